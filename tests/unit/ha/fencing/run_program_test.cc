#include "ha/fencing/run_program.h"

#include "tests/unit/ha/fencing/script.h"

namespace symnas::ha {
namespace {

using RunProgram = ScriptTest;

TEST_F(RunProgram, ArgumentsReachItAsTheyAre) {
  script("exit 3");
  const auto end = run_program({"tool", program, {"a b", "$(c)", "'\"", ""}, ""});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_status, 3);
  EXPECT_EQ(arguments(), "a b\n$(c)\n'\"\n\n");
}

TEST_F(RunProgram, ChannelsApart) {
  script("echo out; echo bad >&2");
  ProgramCall call{"tool", program, {}, ""};
  EXPECT_EQ(run_program(call)->output, "out\nbad\n");
  call.channels = Channels::kApart;
  const auto end = run_program(call);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->output, "out\n");
  EXPECT_EQ(end->errors, "bad\n");
}

TEST_F(RunProgram, KeepsTheEndOfWhatIsTooLong) {
  script("yes x | head -c 300000; echo end");
  ProgramCall call{"tool", program, {}, ""};
  call.channels = Channels::kApart;
  call.output_bytes_max = 100;
  const auto end = run_program(call);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->output.size(), 100u);
  EXPECT_TRUE(end->output.ends_with("end\n"));
}

TEST_F(RunProgram, ATimeOutNamesIt) {
  script("echo waiting >&2; sleep 100 & wait");
  ProgramCall call{"tool", program, {}, "", 60};
  call.channels = Channels::kApart;
  const auto end = run_program(call);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(end.error().message, "tool " + program + ": no answer after 60 ms: waiting");
}

}  // namespace
}  // namespace symnas::ha

#include "vnfsd/instance/process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace symnas::vnfsd::instance {
namespace {

TEST(Process, StartTicksBehindAnyCommandName) {
  const std::string rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
  EXPECT_EQ(*parse_start_ticks("12 (ganesha.nfsd)" + rest), 4711u);
  EXPECT_EQ(*parse_start_ticks("12 (a) b (c) 9)" + rest), 4711u);
  EXPECT_EQ(parse_start_ticks("12 (x) S 1").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(parse_start_ticks("").error().code, ErrorCode::kCorrupt);
}

TEST(Process, AdoptsOnlyTheRecordedProcess) {
  const ProcessId self{::getpid(), *start_ticks_of(::getpid())};
  EXPECT_TRUE(Process::adopt(self));
  EXPECT_EQ(Process::adopt({self.pid, self.start_ticks + 1}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Process::adopt({0, 0}).error().code, ErrorCode::kNotFound);
}

TEST(Process, KillsReapsAndTellsHowItEnded) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  ASSERT_GT(pid, 0);
  const auto process = Process::adopt({pid, *start_ticks_of(pid)});
  ASSERT_TRUE(process);
  EXPECT_EQ(process->wait(0), std::nullopt);
  EXPECT_TRUE(process->network_namespace());
  process->kill();
  EXPECT_EQ(process->wait(5000), "signal 9 (Killed)");
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), -1);  // reaped
  process->kill();                                  // without effect
}

TEST(Process, DescribesExits) {
  EXPECT_EQ(describe_exit(CLD_EXITED, 2), "exit status 2");
  EXPECT_EQ(describe_exit(CLD_DUMPED, SIGSEGV), "signal 11 (Segmentation fault), core dumped");
}

TEST(Process, BootIdIsAUuid) { EXPECT_EQ(boot_id()->size(), 36u); }

}  // namespace
}  // namespace symnas::vnfsd::instance

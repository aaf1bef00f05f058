// The commands, and the faults behind them, without FUSE.
#include "tests/support/fuse_lun/control.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <future>

namespace symnas::fuse_lun {
namespace {

constexpr auto kSoon = std::chrono::seconds(5);
constexpr auto kNotYet = std::chrono::milliseconds(5);

class ControlTest : public testing::Test {
 protected:
  ControlTest() {
    for (const std::string name : {"LUN0", "LUN1"}) {
      std::ofstream(path(name)) << std::string(1 << 16, '.');
      EXPECT_EQ(say("add " + name + " " + path(name)), "ok\n");
    }
  }
  ~ControlTest() override {
    for (const std::string name : {"LUN0", "LUN1"}) std::filesystem::remove(path(name));
  }

  static std::string path(const std::string& name) {
    return (std::filesystem::temp_directory_path() /
            ("control_test." + std::to_string(::getpid()) + "." + name))
        .string();
  }
  std::string say(const std::string& line) { return control_.execute(line); }

  // Starts a request for one sector of LUN0; the future is its errno.
  std::future<int> start(RequestKind kind, Stability stability = Stability::kVolatile,
                         const std::string& head = "c1n1") {
    const auto answer = std::make_shared<std::promise<int>>();
    Request request{.kind = kind, .head = head, .length = kSectorBytes, .stability = stability};
    if (kind == RequestKind::kWrite) request.data.assign(kSectorBytes, std::byte{'w'});
    request.done = [answer](Request& done, int error_number) {
      answer->set_value(error_number == 0 && done.kind == RequestKind::kRead
                            ? -std::to_integer<int>(done.data.front())
                            : error_number);
    };
    std::future<int> result = answer->get_future();
    luns_.at(0)->submit(std::move(request));
    return result;
  }
  int run(RequestKind kind, Stability stability = Stability::kVolatile,
          const std::string& head = "c1n1") {
    return start(kind, stability, head).get();
  }
  char byte() { return static_cast<char>(-run(RequestKind::kRead)); }

  LunSet luns_;
  Control control_{luns_};
};

TEST_F(ControlTest, OneHeadHangsAlone) {
  EXPECT_EQ(say("hang all c1n2"), "ok\n");
  auto waits = start(RequestKind::kWrite, Stability::kStable, "c1n2");
  EXPECT_EQ(run(RequestKind::kWrite), 0);
  EXPECT_EQ(waits.wait_for(kNotYet), std::future_status::timeout);
  EXPECT_EQ(say("resume all c1n2"), "ok\n");
  ASSERT_EQ(waits.wait_for(kSoon), std::future_status::ready);
  EXPECT_EQ(waits.get(), 0);
  EXPECT_EQ(run(RequestKind::kFlush, Stability::kVolatile, "c1n2"), 0);
}

TEST_F(ControlTest, AFenceEndsWhatHangs) {
  say("hang LUN0 c1n2");
  auto waits = start(RequestKind::kWrite, Stability::kStable, "c1n2");
  EXPECT_EQ(waits.wait_for(kNotYet), std::future_status::timeout);
  say("fence all c1n2");
  ASSERT_EQ(waits.wait_for(kSoon), std::future_status::ready);
  EXPECT_EQ(waits.get(), EBADE);
  say("heal all");
  EXPECT_EQ(run(RequestKind::kRead, Stability::kVolatile, "c1n2"), -'.');
}

TEST_F(ControlTest, WhatIsWrongIsSaid) {
  for (const char* line :
       {"", "stats", "stats LUN7", "delay LUN0 x", "eio LUN0 all on", "eio LUN0 read", "fence LUN0",
        "power-on LUN0 x", "power-off LUN0 3", "power-off all 0", "dance LUN0",
        "add LUN0 /nonexistent", "add LUN9 /nonexistent"}) {
    EXPECT_EQ(say(line).rfind("error: ", 0), 0u) << line;
  }
}

TEST_F(ControlTest, Eio) {
  EXPECT_EQ(say("eio LUN0 write on"), "ok\n");
  EXPECT_EQ(run(RequestKind::kWrite), EIO);
  EXPECT_EQ(run(RequestKind::kFlush), 0);
  EXPECT_EQ(byte(), '.');
  EXPECT_EQ(say("eio LUN0 write off"), "ok\n");
  EXPECT_EQ(run(RequestKind::kWrite), 0);
  EXPECT_EQ(byte(), 'w');
}

TEST_F(ControlTest, BadBytes) {
  EXPECT_EQ(say("bad LUN0 0 4096"), "ok\n");
  EXPECT_EQ(run(RequestKind::kRead), ENODATA);
  EXPECT_EQ(run(RequestKind::kWrite), 0);
  EXPECT_EQ(say("bad LUN0 1048576 4096"), "ok\n");
  EXPECT_EQ(run(RequestKind::kRead), -'w');
  EXPECT_EQ(say("bad LUN0 0"), "error: bad LUN BYTE BYTES\n");
}

TEST_F(ControlTest, EioOfOneHead) {
  EXPECT_EQ(say("eio LUN0 read on c1n2"), "ok\n");
  EXPECT_EQ(run(RequestKind::kRead, Stability::kVolatile, "c1n2"), EIO);
  EXPECT_EQ(run(RequestKind::kWrite, Stability::kVolatile, "c1n2"), 0);
  EXPECT_EQ(run(RequestKind::kWrite), 0);
  EXPECT_EQ(byte(), 'w');
  EXPECT_EQ(say("eio LUN0 read off c1n2"), "ok\n");
  EXPECT_EQ(run(RequestKind::kRead, Stability::kVolatile, "c1n2"), -'w');
  EXPECT_EQ(say("eio LUN0 read on c1n2"), "ok\n");
  EXPECT_EQ(say("heal LUN0"), "ok\n");
  EXPECT_EQ(run(RequestKind::kRead, Stability::kVolatile, "c1n2"), -'w');
}

TEST_F(ControlTest, WhatHangsIsExecutedInTheEnd) {
  EXPECT_EQ(say("hang all"), "ok\n");
  std::future<int> write = start(RequestKind::kWrite);
  std::future<int> read = start(RequestKind::kRead);
  EXPECT_EQ(write.wait_for(kNotYet), std::future_status::timeout);
  EXPECT_EQ(say("resume all"), "ok\n");
  ASSERT_EQ(read.wait_for(kSoon), std::future_status::ready);
  EXPECT_EQ(write.get(), 0);
  EXPECT_EQ(-read.get(), 'w') << "in their turn";
}

TEST_F(ControlTest, ADelayKeepsTheOrder) {
  EXPECT_EQ(say("delay LUN0 20"), "ok\n");
  const auto since = std::chrono::steady_clock::now();
  std::future<int> write = start(RequestKind::kWrite);
  EXPECT_EQ(-run(RequestKind::kRead), 'w');
  EXPECT_EQ(write.get(), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - since, std::chrono::milliseconds(20));
}

TEST_F(ControlTest, AFenceIsOfOneHead) {
  EXPECT_EQ(say("hang LUN0"), "ok\n");
  std::future<int> waiting = start(RequestKind::kWrite);
  EXPECT_EQ(say("fence LUN0 c1n1"), "ok\n");
  EXPECT_EQ(waiting.get(), EBADE) << "aborted at once";
  EXPECT_EQ(say("resume LUN0"), "ok\n");
  EXPECT_EQ(run(RequestKind::kRead), EBADE);
  EXPECT_EQ(-run(RequestKind::kRead, Stability::kVolatile, "c1n2"), '.') << "it was not executed";
  EXPECT_EQ(say("unfence LUN0 c1n1"), "ok\n");
  EXPECT_EQ(byte(), '.');
}

TEST_F(ControlTest, AVanishedLunEndsWhatWaits) {
  EXPECT_EQ(say("hang LUN0"), "ok\n");
  std::future<int> waiting = start(RequestKind::kWrite);
  EXPECT_EQ(say("vanish LUN0"), "ok\n");
  EXPECT_EQ(waiting.get(), EIO);
  EXPECT_FALSE(luns_.at(0)->is_there());
  EXPECT_TRUE(luns_.at(1)->is_there());
  EXPECT_EQ(run(RequestKind::kRead), EIO);
  EXPECT_EQ(say("heal LUN0"), "ok\n");
  EXPECT_EQ(byte(), '.');
}

TEST_F(ControlTest, APowerLossDropsCacheAndQueue) {
  EXPECT_EQ(run(RequestKind::kWrite), 0);
  EXPECT_EQ(say("power-off all"), "ok\n");
  std::future<int> waiting = start(RequestKind::kWrite, Stability::kStable);
  EXPECT_EQ(waiting.wait_for(kNotYet), std::future_status::timeout);
  EXPECT_EQ(say("power-on all"),
            "LUN0: 1 sectors lost, 0 kept\nLUN1: 0 sectors lost, 0 kept\nok\n");
  EXPECT_EQ(waiting.get(), EIO);
  EXPECT_EQ(byte(), '.');
}

TEST_F(ControlTest, ThePowerGoesBeforeTheNthRequest) {
  EXPECT_EQ(say("power-off all 3"), "ok\n");
  EXPECT_EQ(run(RequestKind::kWrite, Stability::kStable), 0);
  EXPECT_EQ(byte(), 'w') << "reads do not count";
  EXPECT_EQ(run(RequestKind::kFlush), 0);
  std::future<int> third = start(RequestKind::kWrite);
  EXPECT_EQ(third.wait_for(kNotYet), std::future_status::timeout);
  EXPECT_NE(say("stats all").find("\"power\": false"), std::string::npos);
  EXPECT_NE(say("power-on all").find("ok\n"), std::string::npos);
  EXPECT_EQ(third.get(), EIO);
}

// Otherwise the power would fail later, when no test expects it, and killed processes would never
// end.
TEST_F(ControlTest, WhatHasNotComeBeforeItEndsNeverComes) {
  for (const char* end : {"power-on all", "heal all"}) {
    EXPECT_EQ(say("power-off all 2"), "ok\n");
    EXPECT_EQ(run(RequestKind::kWrite), 0);
    EXPECT_NE(say(end).find("ok\n"), std::string::npos);
    EXPECT_EQ(run(RequestKind::kWrite), 0) << end;
    EXPECT_EQ(say("stats all").find("\"power\": false"), std::string::npos) << end;
  }
  EXPECT_EQ(say("hang all 2"), "ok\n");
  EXPECT_EQ(say("resume all"), "ok\n");
  EXPECT_EQ(run(RequestKind::kWrite), 0);
  EXPECT_EQ(run(RequestKind::kWrite), 0);
}

}  // namespace
}  // namespace symnas::fuse_lun

#include "vnfsd/ctl/watch.h"

#include <sstream>

#include <gtest/gtest.h>

namespace symnas::vnfsd::ctl {
namespace {

class WatchTest : public ::testing::Test {
 protected:
  // Looks `times`; each look gives the next of `looks` (an error: its message begins with "!").
  Status run(std::vector<std::string> looks, Output output = Output::kTable) {
    std::size_t at = 0;
    Surroundings around;
    around.terminal = terminal;
    around.look = [this] { return terminal; };
    around.wait = [&](std::chrono::milliseconds time) {
      if (at == 0) return true;
      EXPECT_EQ(time, std::chrono::seconds(5));
      return at < looks.size();
    };
    return watch({5, output, "status"}, around, out, [&](std::ostream& to) -> Status {
      const std::string look = looks.at(at++);
      if (look[0] == '!') return fail(code, look.substr(1));
      to << look;
      return {};
    });
  }
  std::size_t count(const std::string& text) const {
    std::size_t found = 0;
    const std::string all = out.str();
    for (std::size_t at = 0; (at = all.find(text, at)) != std::string::npos; ++at) ++found;
    return found;
  }
  Terminal terminal;
  ErrorCode code = ErrorCode::kShutdown;
  std::ostringstream out;
};

TEST_F(WatchTest, InAPipeEachLookIsBelowItsTime) {
  EXPECT_TRUE(run({"one\n", "two\n"}));
  EXPECT_EQ(count("--- 20"), 2u);
  EXPECT_LT(out.str().find("one\n"), out.str().find("two\n"));
  EXPECT_EQ(count("\x1b"), 0u);
}

TEST_F(WatchTest, ADumbTerminalIsLikeAPipe) {
  terminal.is_terminal = true;
  terminal.is_dumb = true;
  EXPECT_TRUE(run({"one\n"}));
  EXPECT_EQ(count("\x1b"), 0u);
}

TEST_F(WatchTest, JsonIsALineEach) {
  EXPECT_TRUE(run({"{\n  \"a\": 1\n}\n", "{\"a\": 2}\n"}, Output::kJson));
  EXPECT_EQ(out.str(), "{\"a\":1}\n{\"a\":2}\n");
}

TEST_F(WatchTest, GoesOnWhileVnfsdIsAway) {
  EXPECT_TRUE(run({"!vnfsd: no answer", "one\n"}));
  EXPECT_EQ(count("symnas: vnfsd: no answer (asking again every 5 s)"), 1u);
  EXPECT_EQ(count("one\n"), 1u);
}

TEST_F(WatchTest, WhatTimeDoesNotMendEndsIt) {
  code = ErrorCode::kNotFound;
  const Status ended = run({"!vnfs v9: does not exist", "one\n"});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(out.str(), "");
}

TEST_F(WatchTest, ATerminalIsDrawnAnewInPlace) {
  terminal.is_terminal = true;
  EXPECT_TRUE(run({"one\n", "!away", "two\n"}));
  EXPECT_EQ(count("\x1b[2J"), 1u);  // cleared once: no flicker
  EXPECT_EQ(count("\x1b[H"), 3u);
  EXPECT_EQ(count("one\x1b[K"), 2u);  // what was seen last stays while vnfsd is away
  EXPECT_EQ(count("symnas: away"), 1u);
}

TEST_F(WatchTest, AScreenHoldsNoMoreThanItsRowsAndColumns) {
  terminal.columns = 5;
  terminal.rows = 3;
  EXPECT_EQ(screen_of("1234567\nb\nc\nd\n", terminal), "\x1b[H12345\x1b[K\n... 3\x1b[K\n\x1b[J");
  EXPECT_EQ(screen_of("a\n", terminal), "\x1b[Ha\x1b[K\n\x1b[J");
}

TEST_F(WatchTest, EndsWhenNobodyReads) {
  out.setstate(std::ios::badbit);
  EXPECT_TRUE(run({"one\n", "two\n"}));
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

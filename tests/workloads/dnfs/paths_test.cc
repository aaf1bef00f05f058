// Paths: balance, failure, return, waiting; by steps with a time of their own.
#include "tests/workloads/dnfs/paths.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include <fmt/core.h>

namespace symnas::dnfs {
namespace {

constexpr PathLimits kLimits{
    .connect_ms = 1000, .io_ms = 500, .retry_first_ms = 100, .retry_max_ms = 400, .wait_ms = 2000};

std::string text(const std::vector<PathAction>& actions) {
  std::string out;
  for (const PathAction& action : actions) {
    if (!out.empty()) out += ' ';
    if (const auto* a = std::get_if<Connect>(&action)) out += fmt::format("connect:{}", a->path);
    if (const auto* a = std::get_if<Drop>(&action))
      out += fmt::format("{}:{}", a->outage ? "drop" : "drop-again", a->path);
    if (const auto* a = std::get_if<Send>(&action))
      out += fmt::format("send:{}@{}", a->request, a->path);
    if (const auto* a = std::get_if<GiveUp>(&action)) out += fmt::format("give-up:{}", a->request);
  }
  return out;
}

class PathsTest : public ::testing::Test {
 protected:
  // Paths that are up and have answered a request each.
  Paths proved(std::size_t count, std::int64_t now_ms = 0) {
    Paths paths(count, kLimits);
    paths.step(now_ms, Tick{});
    for (std::size_t i = 0; i < count; ++i) {
      paths.step(now_ms, Connected{i});
      paths.step(now_ms, Submitted{1000 + i, 1});
      paths.step(now_ms, Answered{1000 + i, 1});
    }
    return paths;
  }
};

TEST_F(PathsTest, ConnectsAllAtFirstAndSendsWhenOneIsUp) {
  Paths paths(2, kLimits);
  EXPECT_EQ(text(paths.step(0, Submitted{1, 8192})), "");
  EXPECT_EQ(text(paths.step(0, Tick{})), "connect:0 connect:1");
  EXPECT_EQ(text(paths.step(5, Connected{1})), "send:1@1");
}

TEST_F(PathsTest, TakesThePathWithTheFewestOutstandingBytes) {
  Paths paths = proved(2);
  EXPECT_EQ(text(paths.step(1, Submitted{1, 1 << 20})), "send:1@0");
  EXPECT_EQ(text(paths.step(1, Submitted{2, 8192})), "send:2@1");
  EXPECT_EQ(text(paths.step(1, Submitted{3, 8192})), "send:3@1");
  paths.step(2, Answered{1, 8192});
  EXPECT_EQ(text(paths.step(2, Submitted{4, 8192})), "send:4@0");
}

TEST_F(PathsTest, EqualPathsTakeTurns) {
  for (const std::size_t count : {2u, 3u, 4u}) {
    Paths paths = proved(count);
    std::map<std::size_t, int> sent;
    for (RequestId id = 1; id <= 400; ++id) {
      for (const PathAction& action : paths.step(1, Submitted{id, 8192}))
        ++sent[std::get<Send>(action).path];
      paths.step(1, Answered{id, 8192});
    }
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_NEAR(sent[i], 400.0 / static_cast<double>(count), 1) << "path " << i;
  }
}

TEST_F(PathsTest, WhatIsAnsweredAtOnceTakesTurnsBesideFullQueues) {
  Paths paths = proved(2);
  for (RequestId id = 1; id <= 6; ++id) paths.step(1, Submitted{id, 1 << 20});
  std::map<std::size_t, int> sent;
  for (RequestId id = 10; id < 110; ++id) {
    for (const PathAction& action : paths.step(1, Submitted{id, 1 << 20}))
      ++sent[std::get<Send>(action).path];
    paths.step(1, Answered{id, 1 << 20});
  }
  EXPECT_EQ(sent[0], 50);
  EXPECT_EQ(sent[1], 50);
}

TEST_F(PathsTest, APathThatEndsHasItsRequestsSentOverTheOthersInOrder) {
  Paths paths = proved(2);
  for (RequestId id = 1; id <= 4; ++id) paths.step(1, Submitted{id, 8192});
  EXPECT_EQ(text(paths.step(2, ConnectionEnded{0, "reset"})), "drop:0 send:1@1 send:3@1");
  EXPECT_EQ(paths.counters(0).failures, 1u);
  EXPECT_EQ(paths.counters(0).reissued, 2u);
  EXPECT_EQ(paths.counters(0).state, PathState::kDown);
  // What comes of the dropped connection afterwards is not told to Paths; its bytes are none.
  EXPECT_EQ(paths.counters(0).bytes, 1u);
}

TEST_F(PathsTest, SilenceOfAPathWithSomethingOutstandingIsAFailure) {
  Paths paths = proved(2);
  EXPECT_EQ(text(paths.step(100, Submitted{1, 8192})), "send:1@0");
  EXPECT_EQ(text(paths.step(599, Tick{})), "");
  EXPECT_EQ(text(paths.step(600, Tick{})), "drop:0 send:1@1");
}

TEST_F(PathsTest, APathWithNothingOutstandingMayBeSilentForEver) {
  Paths paths = proved(2);
  EXPECT_EQ(text(paths.step(1'000'000, Tick{})), "");
}

TEST_F(PathsTest, AnswersOfOthersDoNotHideAStuckRequestForEver) {
  Paths paths = proved(1);
  paths.step(0, Submitted{1, 8192});
  std::string all;
  for (std::int64_t now = 100; now <= kStuckFactor * 500; now += 100) {
    const auto id = static_cast<RequestId>(now);
    paths.step(now, Submitted{id, 8192});
    paths.step(now, Answered{id, 8192});
    all += text(paths.step(now, Tick{}));
  }
  EXPECT_EQ(all, "drop:0");
}

TEST_F(PathsTest, ComesBackAtGrowingIntervalsAndIsUsedAgain) {
  Paths paths = proved(2);
  paths.step(1000, ConnectionEnded{0, "reset"});
  EXPECT_EQ(text(paths.step(1099, Tick{})), "");
  EXPECT_EQ(text(paths.step(1100, Tick{})), "connect:0");
  EXPECT_EQ(text(paths.step(1101, ConnectionEnded{0, "refused"})), "drop-again:0");
  EXPECT_EQ(text(paths.step(1300, Tick{})), "");
  EXPECT_EQ(text(paths.step(1301, Tick{})), "connect:0");
  EXPECT_EQ(text(paths.step(2301, Tick{})), "drop-again:0") << "no answer while connecting";
  EXPECT_EQ(text(paths.step(2701, Tick{})), "connect:0");
  EXPECT_EQ(text(paths.step(2702, Connected{0})), "");
  EXPECT_EQ(paths.counters(0).failures, 1u);
  EXPECT_EQ(paths.counters(0).returns, 1u);
  EXPECT_EQ(text(paths.step(2703, Submitted{1, 8192})), "send:1@0");
}

TEST_F(PathsTest, APathThatHasAnsweredNothingSinceItIsUpGetsOneRequestAtATime) {
  Paths paths = proved(2);
  paths.step(0, ConnectionEnded{0, "reset"});
  paths.step(100, Tick{});
  paths.step(100, Connected{0});
  EXPECT_EQ(text(paths.step(101, Submitted{1, 8192})), "send:1@0");
  EXPECT_EQ(text(paths.step(101, Submitted{2, 8192})), "send:2@1");
  EXPECT_EQ(text(paths.step(101, Submitted{3, 8192})), "send:3@1");
  EXPECT_EQ(text(paths.step(601, Tick{})), "drop:0 drop:1");
  EXPECT_EQ(paths.counters(0).silent_data, 1u);
  EXPECT_EQ(paths.counters(1).silent_data, 0u) << "it had answered before";
}

TEST_F(PathsTest, WithoutAnyPathRequestsWaitAndAreSentInTheirOrder) {
  Paths paths = proved(1);
  paths.step(0, Submitted{1, 8192});
  EXPECT_EQ(text(paths.step(1, ConnectionEnded{0, "reset"})), "drop:0");
  paths.step(1, Submitted{2, 8192});
  EXPECT_EQ(paths.waiting(), 2u);
  EXPECT_EQ(text(paths.step(101, Tick{})), "connect:0");
  EXPECT_EQ(text(paths.step(102, Connected{0})), "send:1@0");
  EXPECT_EQ(text(paths.step(103, Answered{1, 8192})), "send:2@0");
}

TEST_F(PathsTest, GivesUpOnlyAtTheLimitAndOnlyWithoutAPath) {
  Paths paths = proved(1);
  paths.step(0, Submitted{1, 8192});
  paths.step(0, ConnectionEnded{0, "reset"});
  paths.step(1500, Submitted{2, 8192});
  EXPECT_EQ(text(paths.step(1999, Tick{})), "connect:0");
  EXPECT_EQ(text(paths.step(2000, Tick{})), "give-up:1");
  EXPECT_EQ(text(paths.step(2100, Connected{0})), "send:2@0");
}

TEST_F(PathsTest, APathThatComesAndGoesDoesNotProlongTheLimit) {
  Paths paths = proved(1);
  paths.step(0, Submitted{1, 8192});
  std::string last;
  for (std::int64_t now = 0; now < 4000 && last.find("give-up") == std::string::npos; now += 10) {
    paths.step(now, Connected{0});  // mounts, and answers nothing
    last = text(paths.step(now, Tick{}));
    EXPECT_TRUE(now >= 2000 || last.find("give-up") == std::string::npos) << now;
  }
  EXPECT_NE(last.find("give-up:1"), std::string::npos);
}

TEST_F(PathsTest, ALimitOfZeroWaitsForEver) {
  PathLimits limits = kLimits;
  limits.wait_ms = 0;
  Paths paths(1, limits);
  paths.step(0, Submitted{1, 8192});
  EXPECT_EQ(text(paths.step(1'000'000, Tick{})), "connect:0");
  EXPECT_EQ(text(paths.step(1'000'001, Connected{0})), "send:1@0");
}

// Random events: a request is on at most one path, which is up; each ends exactly once.
TEST_F(PathsTest, EveryRequestEndsOnceWhateverPathsDo) {
  std::uint64_t random = 7;
  const auto draw = [&](std::uint64_t below) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    return (random >> 33) % below;
  };
  Paths paths(4, kLimits);
  std::map<RequestId, std::size_t> on;  // request -> path
  std::map<RequestId, bool> ended;
  std::vector<bool> connected(4);
  std::int64_t now = 0;
  const auto apply = [&](const PathEvent& event) {
    for (const PathAction& action : paths.step(now, event)) {
      if (const auto* drop = std::get_if<Drop>(&action)) {
        connected[drop->path] = false;
        std::erase_if(on, [&](const auto& one) { return one.second == drop->path; });
      }
      if (const auto* send = std::get_if<Send>(&action)) {
        EXPECT_TRUE(connected[send->path]);
        EXPECT_FALSE(on.contains(send->request));
        EXPECT_FALSE(ended[send->request]);
        on[send->request] = send->path;
      }
      if (const auto* gone = std::get_if<GiveUp>(&action)) {
        EXPECT_FALSE(on.contains(gone->request));
        EXPECT_FALSE(ended[gone->request]);
        ended[gone->request] = true;
      }
    }
  };
  for (RequestId id = 1; id <= 3000; ++id) {
    now += static_cast<std::int64_t>(draw(40));
    ended[id] = false;
    apply(Submitted{id, static_cast<std::uint32_t>(8192 << draw(8))});
    apply(Tick{});
    const std::size_t path = draw(4);
    if (draw(3) == 0 && paths.counters(path).state == PathState::kConnecting) {
      connected[path] = true;
      apply(Connected{path});
    } else if (draw(8) == 0) {
      apply(ConnectionEnded{path, "reset"});
    }
    while (!on.empty() && draw(3) != 0) {
      const RequestId done = std::next(on.begin(), static_cast<long>(draw(on.size())))->first;
      on.erase(done);
      ended[done] = true;
      apply(Answered{done, 8192});
    }
  }
  for (std::size_t path = 0; path < 4; ++path) apply(ConnectionEnded{path, "end"});
  now += kLimits.wait_ms;
  apply(Tick{});
  for (const auto& [id, done] : ended) EXPECT_TRUE(done) << "request " << id;
}

}  // namespace
}  // namespace symnas::dnfs

// Agent::fence_head over an in-memory store: what is recorded when, and what the victim may do
// then.
#include <poll.h>

#include <atomic>
#include <thread>

#include "tests/unit/vnfsd/daemon/fencing_cluster.h"

namespace symnas::vnfsd::daemon {
namespace {

TEST_F(FencingTest, EndsEveryMountOfTheHeadAfterTheProof) {
  const auto done = fence("c1n2");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(*done, "head c1n2: fenced, 1 mounts of 1 VNFSs ended: power is off");
  EXPECT_EQ(asked, std::vector<std::string>{"c1n2"});
  EXPECT_EQ(states_at_proof, std::vector{records::FENCE_RUNNING});
  ASSERT_FALSE(mount().alive());
  EXPECT_EQ(mount().ended->by(), "c1n3");
  EXPECT_EQ(mount().ended->proof(), "power is off");
  EXPECT_FALSE(builder.view().owners.contains("vnfs1"));
  EXPECT_EQ(builder.view().left.at("vnfs1").record.epoch(), 1u);
  EXPECT_EQ(record().state(), records::FENCE_DONE);
  EXPECT_EQ(record().incarnation(), "boot2");
}

TEST_F(FencingTest, WithoutProofNothingEnds) {
  fails = true;
  const auto done = fence("c1n2");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(done.error().message.find("no power switch"), std::string::npos);
  EXPECT_TRUE(mount().alive());
  EXPECT_TRUE(builder.view().owners.contains("vnfs1"));
  EXPECT_EQ(record().state(), records::FENCE_FAILED);
  // It lives: it may go on; and it can be tried again.
  EXPECT_TRUE(agents["c1n2"]->claim("vnfs1", {}));
  fails = false;
  EXPECT_TRUE(fence("c1n2"));
  EXPECT_FALSE(mount().alive());
}

TEST_F(FencingTest, TheVictimClaimsNothingFromTheBeginningOn) {
  during = [&] { EXPECT_EQ(code_of(agents["c1n2"]->claim("vnfs1", {})), ErrorCode::kPermission); };
  ASSERT_TRUE(fence("c1n2"));
  EXPECT_EQ(code_of(agents["c1n2"]->claim("vnfs1", {})), ErrorCode::kPermission);
}

TEST_F(FencingTest, ItsOwnerRecordsAreDisprovedBeforeItsMountsEnd) {
  const Revision before = builder.view().owners.at("vnfs1").mod_revision;
  ASSERT_TRUE(fence("c1n2"));
  const auto read = kv::range_blocking(
      builder.store, kv::single_key(kv::keys::mount_ended(kFs, kMount)), 0, kTestDeadlineMs);
  ASSERT_TRUE(read && read->kvs.size() == 1);
  EXPECT_GT(read->kvs[0].mod_revision, Revision(before.value() + 2));  // begun, proven
}

TEST_F(FencingTest, ItsNextBootServesAgain) {
  ASSERT_TRUE(fence("c1n2"));
  start("c1n2", "boot2b", {});
  EXPECT_FALSE(builder.view().fences.contains("c1n2"));
  EXPECT_TRUE(agents["c1n2"]->claim("vnfs1", {}));
}

TEST_F(FencingTest, TheSameBootDoesNotRegisterAgain) {
  ASSERT_TRUE(fence("c1n2"));
  const std::int64_t started = builder.view().heads.at("c1n2").record.agent_started_ns();
  may_register = false;
  start("c1n2", "boot2", {});
  EXPECT_EQ(code_of(agents["c1n2"]->claim("vnfs1", {})), ErrorCode::kPermission);
  EXPECT_EQ(builder.view().heads.at("c1n2").record.agent_started_ns(), started);
}

TEST_F(FencingTest, AHeadThatCameBackMeanwhileIsLeftAlone) {
  during = [&] { start("c1n2", "boot2b", {}); };
  EXPECT_EQ(code_of(fence("c1n2")), ErrorCode::kConflict);
  EXPECT_TRUE(mount().alive());
}

// It would stand still for minutes, and that boot could claim nothing.
TEST_F(FencingTest, EachStepGoesOnWhenEtcdDidNotSayWhatBecameOfIt) {
  for (int step = 0; step < 3; ++step) {
    next_step_meets(kv::TxnFault::Kind::kRequestLost);
    next_step_meets(kv::TxnFault::Kind::kReplyLost);
  }
  const auto done = fence("c1n2");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(faults->empty());
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_FALSE(mount().alive());
  EXPECT_EQ(record().state(), records::FENCE_DONE);
}

TEST_F(FencingTest, AFailureIsNotedWhenEtcdDidNotSayWhatBecameOfIt) {
  fails = true;
  during = [&] {
    next_step_meets(kv::TxnFault::Kind::kRequestLost);
    next_step_meets(kv::TxnFault::Kind::kReplyLost);
  };
  EXPECT_FALSE(fence("c1n2"));
  EXPECT_EQ(record().state(), records::FENCE_FAILED);
}

TEST_F(FencingTest, ARepetitionSaysThatItIsDone) {
  ASSERT_TRUE(fence("c1n2"));
  ASSERT_TRUE(fence("c1n2"));
  EXPECT_EQ(asked.size(), 1u);
}

// Without being asked: only while all that was seen holds.
class SilentHeadTest : public FencingTest {
 protected:
  void SetUp() override {
    FencingTest::SetUp();
    beat();
    const auto kv =
        kv::range_blocking(builder.store, kv::single_key(heartbeat), 1, kTestDeadlineMs);
    ASSERT_TRUE(kv && kv->kvs.size() == 1);
    cause = {"boot2", Revision{}, heartbeat, kv->kvs[0].mod_revision};
  }
  void beat() { builder.put(heartbeat, "beat"); }
  void expect_left_alone() {
    const auto done = agents["c1n3"]->fence_silent_head("c1n2", cause);
    EXPECT_EQ(code_of(done), ErrorCode::kConflict);
    EXPECT_TRUE(asked.empty());
    EXPECT_TRUE(mount().alive());
  }
  const std::string heartbeat = kv::keys::heartbeat(kFs, kMount);
  Agent::FenceCause cause;
};

TEST_F(SilentHeadTest, IsFenced) {
  const auto done = agents["c1n3"]->fence_silent_head("c1n2", cause);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(mount().alive());
  EXPECT_EQ(record().state(), records::FENCE_DONE);
}

TEST_F(SilentHeadTest, IsFencedWhenEtcdDidNotSayThatItBegan) {
  next_step_meets(kv::TxnFault::Kind::kReplyLost);
  EXPECT_TRUE(agents["c1n3"]->fence_silent_head("c1n2", cause));
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_FALSE(mount().alive());
}

TEST_F(SilentHeadTest, OneThatShowsAHeartbeatWhileEtcdDoesNotAnswerIsLeftAlone) {
  next_step_meets(kv::TxnFault::Kind::kRequestLost);
  beat();
  expect_left_alone();
}

TEST_F(SilentHeadTest, OneThatShowsAHeartbeatIsLeftAlone) {
  beat();
  expect_left_alone();
  EXPECT_FALSE(builder.view().fences.contains("c1n2"));
}

// c1n2 is heard from the beginning of its fence on, or never.
class SightsOfOne final : public probe::HeadSights {
 public:
  explicit SightsOfOne(ViewBuilder& builder) : builder_(builder) {}
  void set_peers(std::map<std::string, Peer>, std::string) override {}
  std::vector<ha::PeerSight> sights() const override {
    const bool heard = comes_back && builder_.view().fences.contains("c1n2");
    const std::int64_t silent_ms = heard ? 10 : 2 * ha::kSilentMs;
    return {{.head = "c1n2",
             .incarnation = "boot2",
             .silent_ms = silent_ms,
             .suspect = !heard,
             .silent = !heard,
             .paths_silent_ms = {-1, silent_ms}}};
  }
  std::atomic<bool> comes_back{true};

 private:
  ViewBuilder& builder_;
};

class UnheardHeadTest : public SilentHeadTest {
 protected:
  void SetUp() override {
    sights = std::make_unique<SightsOfOne>(builder);
    SilentHeadTest::SetUp();
    cause.silent_since_ns = env::system_clock().wall_ns();
  }
  Agent::FenceCause unheard() const {
    return {"boot2", Revision{}, "", {}, cause.silent_since_ns, true};
  }
};

// Its agent lives and could not end the mount.
TEST_F(UnheardHeadTest, OneThatIsHeardIsFencedForASilentMount) {
  EXPECT_TRUE(agents["c1n3"]->fence_silent_head("c1n2", cause));
  EXPECT_FALSE(mount().alive());
}

// The steps of a fence are tried for long: what was seen before them may hold no more.
TEST_F(UnheardHeadTest, OneThatIsHeardAgainWhileItsFenceBeginsIsNotCutOff) {
  cause = unheard();
  expect_left_alone();
  EXPECT_EQ(record().state(), records::FENCE_FAILED);
  EXPECT_NE(record().error().find("heard again"), std::string::npos) << record().error();
  EXPECT_TRUE(agents["c1n2"]->claim("vnfs1", {}));
}

TEST_F(UnheardHeadTest, OneThatStaysAwayIsFenced) {
  dynamic_cast<SightsOfOne&>(*sights).comes_back = false;
  cause = unheard();
  EXPECT_TRUE(agents["c1n3"]->fence_silent_head("c1n2", cause));
  EXPECT_FALSE(mount().alive());
}

TEST_F(SilentHeadTest, ItsNextBootIsLeftAlone) {
  start("c1n2", "boot2b", {});
  expect_left_alone();
}

TEST_F(SilentHeadTest, OneThatAnotherHeadFencesIsLeftToIt) {
  records::FenceRecord others;
  others.set_head("c1n2");
  others.set_incarnation("boot2");
  others.set_by("c1n9");
  builder.put(kv::keys::kFences + "c1n2", others.SerializeAsString());
  expect_left_alone();
  EXPECT_EQ(record().by(), "c1n9");
  // Whose agent has ended in the middle: what was seen is that record.
  cause.fence = builder.view().fences.at("c1n2").mod_revision;
  EXPECT_TRUE(agents["c1n3"]->fence_silent_head("c1n2", cause));
  EXPECT_FALSE(mount().alive());
}

TEST_F(SilentHeadTest, NothingIsBegunBesideAnotherFence) {
  during = [&] {
    std::thread beside([&] {
      EXPECT_EQ(code_of(agents["c1n3"]->fence_silent_head("c1n2", cause)), ErrorCode::kBusy);
    });
    beside.join();
  };
  EXPECT_TRUE(fence("c1n2"));
  EXPECT_EQ(asked.size(), 1u);
}

// vnfsd restarts on a head whose instance hangs: its VIPs must go.
TEST_F(FencingTest, AnAgentOfAFencedBootLooksAfterWhatIsThere) {
  const auto supervised = [&] {
    const nlohmann::json status = agents["c1n2"]->local_status();
    return status.contains("instances") && status["instances"].contains("vnfs1");
  };
  fails = true;
  during = [&] {
    may_register = false;
    start("c1n2", "boot2", {});
    for (int i = 0; i < 2'000 && !supervised(); ++i) ::usleep(1'000);
    EXPECT_TRUE(supervised());
  };
  EXPECT_FALSE(fence("c1n2"));
}

TEST_F(FencingTest, AnAgentThatCouldNotWorkIsShown) {
  AgentLinks links;
  links.fence_check = [](int) { return fail(ErrorCode::kUnavailable, "agent: no route"); };
  start("c1n4", "boot4", links);
  const auto error = [&] { return agents["c1n4"]->local_status()["fence_agent"]["error"]; };
  for (int i = 0; i < 1000 && error() == ""; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(error(), "agent: no route");
}

// What it talks to may have one session only.
TEST_F(FencingTest, ACheckOfTheAgentEndsBeforeItCutsAHeadOff) {
  std::atomic<bool> checks = false;
  AgentLinks links;
  links.prober = sights.get();
  links.fence_check = [&](int stop_fd) -> Status {
    checks = true;
    pollfd stop{stop_fd, POLLIN, 0};
    ::poll(&stop, 1, 20'000);
    checks = false;
    return {};
  };
  links.fence_off = [&](const std::string&) -> Result<std::string> {
    EXPECT_FALSE(checks);
    return "power is off";
  };
  start("c1n3", "boot3", links);
  for (int i = 0; i < 1000 && !checks; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(checks);
  EXPECT_TRUE(fence("c1n2"));
  agents.erase("c1n3");
}

TEST_F(FencingTest, RefusesWhatCannotBeMeant) {
  EXPECT_EQ(code_of(fence("c1n3")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(fence("c1n9")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(agents["c1n2"]->fence_head("c1n3", Mode::kCommit)), ErrorCode::kNotSupported);
  EXPECT_TRUE(agents["c1n3"]->fence_head("c1n2", Mode::kDryRun));
  EXPECT_TRUE(asked.empty());
  EXPECT_TRUE(builder.view().fences.empty());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

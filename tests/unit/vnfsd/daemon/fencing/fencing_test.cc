// Fencing over an in-memory store: what is recorded when.
#include "vnfsd/daemon/fencing/fencing.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "common/kv/admin_keys.h"
#include "fsal_cluster/schema/mount_entry.h"
#include "ha/detection/probe.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/fencing/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

using namespace std::string_literals;

constexpr FsId kFs{1};
constexpr MountId kMount{5};

Config with_power() {
  Config config = config_of("c1n3");
  config.fence.cuts = "power";
  return config;
}

// c1n3 fences c1n2, which owns vnfs1, whose instance has mounted filesystem u04.
class FencingTest : public HeadWorld {
 protected:
  explicit FencingTest(Config config = with_power()) : HeadWorld(std::move(config)) {}
  void SetUp() override {
    builder.head("c1n3", "10.99.0.3").basics();
    boot("boot2");
    builder.vnfs1({"c1n1", "c1n2"});
    records::OwnerRecord owner;
    owner.set_head("c1n2");
    owner.set_incarnation("boot2");
    owner.set_epoch(1);
    owner.set_vnfs_id(builder.view().vnfses.at("vnfs1").record.vnfs_id());
    builder.put(kv::keys::kOwners + "vnfs1"s, owner.SerializeAsString());
    fs::records::MountRecord mounted;
    mounted.set_head("c1n2");
    mounted.set_vnfs("vnfs1");
    mounted.set_vnfs_id(owner.vnfs_id());
    mounted.set_epoch(1);
    builder.put(kv::keys::mount(kFs, kMount), mounted.SerializeAsString());
    begin();
  }
  // c1n3's part, as `sights` are by now.
  void begin() {
    means =
        std::make_unique<FenceMeans>(head, nullptr, FenceCalls{off(), nullptr}, end.get_token());
    fencing = std::make_unique<Fencing>(
        FencingParts{head, reader, event_writer, history, *means, sights.get(), 10});
  }
  std::function<Result<std::string>(const std::string&)> off() {
    return [this](const std::string& name) -> Result<std::string> {
      asked.push_back(name);
      states_at_proof.push_back(builder.view().fences.at(name).record.state());
      if (during) during();
      if (fails) return fail(ErrorCode::kUnavailable, "agent: no power switch");
      return "power is off";
    };
  }
  // c1n2 registers: another boot has nothing to do with the fence.
  void boot(const std::string& incarnation) {
    records::HeadRecord record;
    record.set_name("c1n2");
    record.set_address("10.99.0.2");
    record.set_incarnation(incarnation);
    kv::Txn txn;
    txn.success.push_back(kv::put(kv::keys::kHeads + "c1n2"s, record.SerializeAsString()));
    txn.success.push_back(kv::erase(kv::keys::kFences + "c1n2"s));
    ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs));
  }
  Result<std::string> fence(const std::string& name) {
    return fencing->fence_head(name, Mode::kCommit);
  }
  fs::MountEntry mount() {
    const auto mounts = fs::list_mounts(builder.store, kFs);
    EXPECT_TRUE(mounts && mounts->size() == 1);
    return mounts->front();
  }
  records::FenceRecord record() { return builder.view().fences.at("c1n2").record; }
  // The next transaction that puts the victim's fence record.
  void next_step_meets(kv::TxnFault::Kind fault) {
    faults->push(fault, [](const kv::Txn& txn) {
      return std::ranges::any_of(txn.success, [](const kv::Op& op) {
        return op.kind == kv::Op::Kind::kPut && op.range.key == kv::keys::kFences + "c1n2"s;
      });
    });
  }

  std::unique_ptr<probe::HeadSights> sights;  // null: it hears nobody and misses nobody
  std::stop_source end;
  HistoryWriter history{head, event_writer};
  std::unique_ptr<FenceMeans> means;
  std::unique_ptr<Fencing> fencing;
  std::vector<std::string> asked;
  std::vector<records::FenceState> states_at_proof;
  std::function<void()> during;
  bool fails = false;
};

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
  fails = false;  // it can be tried again
  EXPECT_TRUE(fence("c1n2"));
  EXPECT_FALSE(mount().alive());
}

TEST_F(FencingTest, ItsOwnerRecordsAreDisprovedBeforeItsMountsEnd) {
  const Revision before = builder.view().owners.at("vnfs1").mod_revision;
  ASSERT_TRUE(fence("c1n2"));
  const auto read = kv::range_blocking(
      builder.store, kv::single_key(kv::keys::mount_ended(kFs, kMount)), 0, kTestDeadlineMs);
  ASSERT_TRUE(read && read->kvs.size() == 1);
  EXPECT_GT(read->kvs[0].mod_revision, Revision(before.value() + 2));  // begun, proven
}

TEST_F(FencingTest, AHeadThatCameBackMeanwhileIsLeftAlone) {
  during = [&] { boot("boot2b"); };
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

// Its LUNs only are cut off: its instance, which answers from memory for 45 ms after a heartbeat,
// may go on.
class LunFencingTest : public FencingTest {
 protected:
  LunFencingTest() : FencingTest(with_luns()) {}
  static Config with_luns() {
    Config config = with_power();
    config.fence.cuts = "luns";
    return config;
  }
  void answers(std::uint32_t answers_ms) {
    fs::records::MountRecord mounted = mount().record;
    mounted.set_answers_ms(answers_ms);
    builder.put(kv::keys::mount(kFs, kMount), mounted.SerializeAsString());
  }
  void beat() { builder.put(kv::keys::heartbeat(kFs, kMount), "beat"); }
  // The next look at the mount's heartbeat.
  void next_look_meets(kv::TxnFault::Kind fault) {
    faults->push(fault, [](const kv::Txn& txn) {
      return std::ranges::any_of(txn.success, [](const kv::Op& op) {
        return op.range.key == kv::keys::heartbeat(kFs, kMount);
      });
    });
  }
  static std::int64_t now_ms() { return env::system_clock().mono_ns() / 1'000'000; }
};

TEST_F(LunFencingTest, WaitsUntilNothingIsAnsweredFromMemory) {
  answers(45);
  beat();
  std::int64_t beat_ms = 0;
  during = [&] {
    beat();  // the last one that succeeds
    beat_ms = now_ms();
  };
  ASSERT_TRUE(fence("c1n2"));
  EXPECT_GE(now_ms() - beat_ms, 45 * 11 / 9);
  EXPECT_FALSE(mount().alive());
  EXPECT_EQ(record().cuts(), "luns");
}

TEST_F(LunFencingTest, CountsFromTheBeginningOfTheFenceWhatHasNotMoved) {
  answers(20'000);
  beat();
  next_look_meets(kv::TxnFault::Kind::kDelay);  // by nothing: it shows when somebody has looked
  during = [&] {
    while (!faults->empty()) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    clock.advance_ns(30'000'000'000);
  };
  const std::int64_t began_ms = now_ms();
  ASSERT_TRUE(fence("c1n2"));
  EXPECT_LT(now_ms() - began_ms, 10'000) << "it waited for 24 s";
  EXPECT_FALSE(mount().alive());
}

TEST_F(LunFencingTest, ReadsSignsOfLifeAgainWhenEtcdDidNotAnswer) {
  answers(5);
  next_look_meets(kv::TxnFault::Kind::kRequestLost);
  next_look_meets(kv::TxnFault::Kind::kRequestLost);
  ASSERT_TRUE(fence("c1n2"));
  EXPECT_TRUE(faults->empty());
  EXPECT_FALSE(mount().alive());
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
    const auto done = fencing->fence_silent_head("c1n2", cause);
    EXPECT_EQ(code_of(done), ErrorCode::kConflict);
    EXPECT_TRUE(asked.empty());
    EXPECT_TRUE(mount().alive());
  }
  const std::string heartbeat = kv::keys::heartbeat(kFs, kMount);
  FenceCause cause;
};

TEST_F(SilentHeadTest, IsFenced) {
  const auto done = fencing->fence_silent_head("c1n2", cause);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(mount().alive());
  EXPECT_EQ(record().state(), records::FENCE_DONE);
}

TEST_F(SilentHeadTest, IsFencedWhenEtcdDidNotSayThatItBegan) {
  next_step_meets(kv::TxnFault::Kind::kReplyLost);
  EXPECT_TRUE(fencing->fence_silent_head("c1n2", cause));
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
  FenceCause unheard() const { return {"boot2", {}, cause.silent_since_ns, true}; }
};

// Its agent lives and could not end the mount.
TEST_F(UnheardHeadTest, OneThatIsHeardIsFencedForASilentMount) {
  EXPECT_TRUE(fencing->fence_silent_head("c1n2", cause));
  EXPECT_FALSE(mount().alive());
}

// The steps of a fence are tried for long: what was seen before them may hold no more.
TEST_F(UnheardHeadTest, OneThatIsHeardAgainWhileItsFenceBeginsIsNotCutOff) {
  cause = unheard();
  expect_left_alone();
  EXPECT_EQ(record().state(), records::FENCE_FAILED);
  EXPECT_NE(record().error().find("heard again"), std::string::npos) << record().error();
}

TEST_F(UnheardHeadTest, OneThatStaysAwayIsFenced) {
  dynamic_cast<SightsOfOne&>(*sights).comes_back = false;
  cause = unheard();
  EXPECT_TRUE(fencing->fence_silent_head("c1n2", cause));
  EXPECT_FALSE(mount().alive());
}

TEST_F(SilentHeadTest, ItsNextBootIsLeftAlone) {
  boot("boot2b");
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
  cause.seen.fence = builder.view().fences.at("c1n2").mod_revision;
  EXPECT_TRUE(fencing->fence_silent_head("c1n2", cause));
  EXPECT_FALSE(mount().alive());
}

TEST_F(SilentHeadTest, NothingIsBegunBesideAnotherFence) {
  during = [&] {
    std::thread beside(
        [&] { EXPECT_EQ(code_of(fencing->fence_silent_head("c1n2", cause)), ErrorCode::kBusy); });
    beside.join();
  };
  EXPECT_TRUE(fence("c1n2"));
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(FencingTest, RefusesWhatCannotBeMeant) {
  EXPECT_EQ(code_of(fence("c1n3")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(fence("c1n9")), ErrorCode::kNotFound);
  EXPECT_TRUE(fencing->fence_head("c1n2", Mode::kDryRun));
  EXPECT_TRUE(asked.empty());
  EXPECT_TRUE(builder.view().fences.empty());
}

TEST_F(FencingTest, WithoutMeansNothingIsBegun) {
  FenceMeans none(head, nullptr, {}, end.get_token());
  Fencing idle({head, reader, event_writer, history, none});
  EXPECT_EQ(code_of(idle.fence_head("c1n2", Mode::kCommit)), ErrorCode::kNotSupported);
  EXPECT_NE(idle.why_no_failover().find("[fence] in vnfsd.toml"), std::string::npos);
  EXPECT_TRUE(builder.view().fences.empty());
}

TEST_F(FencingTest, IsUnderWayWhileItLasts) {
  EXPECT_FALSE(fencing->is_under_way());
  bool seen = false;
  during = [&] { std::thread([&] { seen = fencing->is_under_way(); }).join(); };
  ASSERT_TRUE(fence("c1n2"));
  EXPECT_TRUE(seen);
  EXPECT_FALSE(fencing->is_under_way());
}

TEST_F(FencingTest, OneThatFailedIsNotBegunAgainAtOnce) {
  fails = true;
  const FenceCause cause{"boot2", {}};
  EXPECT_TRUE(fencing->start_fence("c1n2", cause));
  fencing->wait();
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_FALSE(fencing->start_fence("c1n2", cause));
  pass_ms(kFenceAgainMs);
  EXPECT_TRUE(fencing->start_fence("c1n2", cause));
  fencing->wait();
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

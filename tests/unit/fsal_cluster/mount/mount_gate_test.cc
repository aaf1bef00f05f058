// A mount without proof that it has not ended answers nothing and writes nothing; everything goes
// on when the store is back.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/env/random.h"
#include "common/kv/limits.h"
#include "fsal_cluster/mount/gated_volume.h"
#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/state/gate.h"
#include "fsal_cluster/types/limits.h"
#include "tests/support/forwarding_store.h"
#include "tests/support/jumping_clock.h"
#include "tests/support/sim_volume.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using namespace std::chrono_literals;
using test::JumpingClock;
using test::SimDisk;
using test::SimVolume;

// A store that can be away: then every transaction fails before it is executed. Or slow: then each
// is executed, and answered when it is said.
class AwayStore final : public test::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  void set_away(bool away) { away_ = away; }
  void set_slow() { slow_ = true; }
  std::size_t unanswered() {
    const MutexLock lock(mutex_);
    return unanswered_.size();
  }
  void answer() {
    slow_ = false;
    std::vector<std::function<void()>> answers;
    {
      const MutexLock lock(mutex_);
      answers.swap(unanswered_);
    }
    for (const auto& answer : answers) answer();
  }

  void txn(kv::Txn txn, kv::TryOptions options, kv::TxnCallback done) override {
    if (away_) {
      done(fail(ErrorCode::kUnavailable, "the store is away"));
    } else if (slow_) {
      ForwardingStore::txn(std::move(txn), options,
                           [this, done = std::move(done)](const Result<kv::TxnResult>& result) {
                             const MutexLock lock(mutex_);
                             unanswered_.push_back([done, result] { done(result); });
                           });
    } else {
      ForwardingStore::txn(std::move(txn), options, std::move(done));
    }
  }

 private:
  std::atomic<bool> away_{false};
  std::atomic<bool> slow_{false};
  Mutex mutex_;
  std::vector<std::function<void()>> unanswered_ GUARDED_BY(mutex_);
};

class MountGateTest : public testing::Test {
 protected:
  MountGateTest() {
    MountOptions options = mount_options(formatted.fs, 1);
    options.on_ended = [this](Error error) {
      if (error.code == ErrorCode::kEnded) ended = true;
      if (error.code == ErrorCode::kFenced) fenced = true;
    };
    options.guards = {kv::mod_revision_is(kOwner, put_owner())};
    volume = std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate);
    auto opened = Mount::open(store, clock, volume, options);
    EXPECT_TRUE(opened) << opened.error().message;
    mount = std::move(*opened);
    file = mount
               ->create(kRoot, Handle{formatted.fs, kRootIno, Generation{1}}, "f",
                        CreateMode::kGuarded, 0, {})
               ->attributes.handle;
    EXPECT_TRUE(write("before").get());
  }
  std::future<bool> write(const std::string& bytes) {
    auto outcome = std::make_shared<std::promise<bool>>();
    auto data = std::make_shared<std::string>(bytes);
    mount->write(
        file, FileOffset{0}, std::as_bytes(std::span(*data)), WriteStability::kFileSync,
        [outcome, data](Result<WriteResult> result) { outcome->set_value(result.has_value()); });
    return outcome->get_future();
  }
  Revision put_owner() {
    kv::Txn txn;
    txn.success.push_back(kv::put(kOwner, "c1n1"));
    return kv::txn_blocking(*formatted.store, std::move(txn), 1'000)->revision;
  }
  void leave_for_a_minute() {
    store.set_away(true);
    clock.jump_ns(60'000'000'000);
  }

  static constexpr const char* kOwner = "c/owner/vnfs1";
  std::atomic<bool> ended{false};
  std::atomic<bool> fenced{false};
  Formatted formatted;
  AwayStore store{*formatted.store};
  JumpingClock clock;
  std::shared_ptr<SimDisk> disk =
      std::make_shared<SimDisk>(std::uint64_t{64} << 20, std::byte{0xEE});
  std::shared_ptr<SimVolume> volume;
  std::unique_ptr<Mount> mount;
  Handle file;
};

TEST_F(MountGateTest, HoldsWritesAndAnswersUntilTheStoreIsBack) {
  leave_for_a_minute();
  EXPECT_FALSE(mount->gate().is_open());
  const auto writes = volume->counts().writes;
  auto written = write("in place");
  // Waits for a barrier: without a recent proof the mount does not count on being alone.
  auto looked = std::async(std::launch::async, [&] { return mount->getattr(file).has_value(); });
  auto was_read = std::make_shared<std::promise<bool>>();
  mount->read(file, FileOffset{0}, 6,
              [was_read](Result<ReadResult> result) { was_read->set_value(result.has_value()); });
  // The write may wait for its flag instead: the jump of the clock has let the flag lapse.
  while (mount->gate().held() < 1) std::this_thread::yield();
  EXPECT_EQ(written.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(looked.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(volume->counts().writes, writes) << "nothing reaches the volume without proof";
  store.set_away(false);
  EXPECT_TRUE(written.get());
  EXPECT_TRUE(looked.get());
  EXPECT_TRUE(was_read->get_future().get());
  EXPECT_TRUE(mount->gate().is_open());
}

TEST_F(MountGateTest, AnAnswerThatComesAfterAMinuteProvesNothingAboutNow) {
  store.set_slow();
  while (store.unanswered() == 0) std::this_thread::yield();
  clock.jump_ns(60'000'000'000);
  store.set_away(true);
  store.answer();
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(mount->gate().is_open());
  EXPECT_FALSE(mount->gate().may_answer(clock.mono_ns()));
  store.set_away(false);
  EXPECT_TRUE(mount->getattr(file));
}

TEST_F(MountGateTest, ASlowAnswerOfEtcdLetsThoseGoThatWaitForIt) {
  volume->fail_next(SimVolume::Kind::kRead, 1'000);  // a LUN tells nothing
  clock.jump_ns(1'000'000'000);
  store.set_slow();
  auto looked = std::async(std::launch::async, [&] { return mount->getattr(file).has_value(); });
  while (store.unanswered() == 0) std::this_thread::yield();
  while (!mount->gate().holds_answers()) std::this_thread::yield();
  EXPECT_EQ(looked.wait_for(0s), std::future_status::timeout);
  store.answer();
  EXPECT_TRUE(looked.get());
  volume->fail_next(SimVolume::Kind::kRead, 0);
}

TEST_F(MountGateTest, ProvesByReadingWhileNothingCanBePut) {
  formatted.store->server().set_quota(kv::MemServer::Quota::kFull);
  clock.jump_ns(60'000'000'000);
  EXPECT_FALSE(mount->gate().is_open());
  EXPECT_TRUE(mount->getattr(file)) << "held until the gate opened again";
  EXPECT_TRUE(mount->gate().is_open());
}

// A fence disproves the owner record before there is an end record; deletions pass.
TEST_F(MountGateTest, FindsThatItIsDisprovedWhileNothingCanBePut) {
  formatted.store->server().set_quota(kv::MemServer::Quota::kFull);
  // What was refused is aborted as long as there are slots, and an abort compares the owner record.
  for (std::size_t i = 0; i < 2 * kv::kSessionSlots; ++i) {
    EXPECT_FALSE(mount->create(kRoot, Handle{formatted.fs, kRootIno, Generation{1}},
                               "g" + std::to_string(i), CreateMode::kGuarded, 0, {}));
  }
  kv::Txn txn;
  txn.success.push_back(kv::erase(kOwner));
  ASSERT_TRUE(kv::txn_blocking(*formatted.store, std::move(txn), 1'000));
  clock.jump_ns(60'000'000'000);
  for (int i = 0; i < 5'000 && !ended && !mount->gate().is_open(); ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(mount->gate().is_open());
  EXPECT_TRUE(ended);
}

TEST_F(MountGateTest, WhileEtcdIsAwayALunIsTheSignOfLifeOfWhatComesFromMemory) {
  const auto reads = volume->counts().reads;
  store.set_away(true);
  clock.jump_ns(2'000'000'000);
  EXPECT_TRUE(mount->gate().is_open());
  EXPECT_TRUE(mount->getattr(file)) << "it is alone: nobody else can have changed it";
  EXPECT_GT(volume->counts().reads, reads);
}

TEST_F(MountGateTest, AHeadThatHearsNothingOfEtcdFindsThatItsLunsRefuseIt) {
  volume->fail_next(SimVolume::Kind::kRead, 1'000, ErrorCode::kFenced);
  store.set_away(true);
  for (int i = 0; i < 5'000 && !fenced; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(fenced) << "nobody had to ask for anything";
  volume->fail_next(SimVolume::Kind::kRead, 0);
}

TEST_F(MountGateTest, ReadsAndWritesOfLunsNeedNoOtherSignOfLife) {
  store.set_away(true);
  clock.jump_ns(1'000'000'000);
  auto was_read = std::make_shared<std::promise<bool>>();
  mount->read(file, FileOffset{0}, 6,
              [was_read](Result<ReadResult> result) { was_read->set_value(result.has_value()); });
  EXPECT_EQ(was_read->get_future().wait_for(0s), std::future_status::ready);
}

TEST(GatedVolumeTest, IoIsASignOfLifeFromItsSubmission) {
  env::ManualClock clock;
  Gate gate(clock, clock.mono_ns(), kGateWindowNs);
  const auto disk = std::make_shared<SimDisk>(std::uint64_t{1} << 20, std::byte{0});
  const auto inner = std::make_shared<SimVolume>(disk, SimVolume::Mode::kQueued);
  GatedVolume volume(inner, gate);
  std::vector<std::byte> block(4096);
  env::SeededRandom random(1);
  clock.advance_ns(1'000'000'000);
  const std::int64_t submitted_ns = clock.mono_ns();
  volume.read(VolumeOffset{0}, block, [](const Status&) {});
  clock.advance_ns(1);
  ASSERT_TRUE(inner->run_one(random));
  EXPECT_TRUE(gate.may_answer(submitted_ns));
  EXPECT_FALSE(gate.may_answer(clock.mono_ns())) << "a fence may have come in between";
  clock.advance_ns(1);
  const std::int64_t failed_ns = clock.mono_ns();
  inner->fail_next(SimVolume::Kind::kRead, 1);
  volume.read(VolumeOffset{0}, block, [](const Status&) {});
  ASSERT_TRUE(inner->run_one(random));
  volume.flush([](const Status&) {});
  ASSERT_TRUE(inner->run_one(random));
  EXPECT_FALSE(gate.may_answer(failed_ns)) << "neither an error nor a flush proves anything";
}

TEST(GatedVolumeTest, IoThatWasNotBegunFailsWhenTheGateIsShutDown) {
  env::ManualClock clock;
  Gate gate(clock, clock.mono_ns(), kGateWindowNs);
  const auto disk = std::make_shared<SimDisk>(std::uint64_t{1} << 20, std::byte{0});
  const auto inner = std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate);
  GatedVolume volume(inner, gate);
  std::vector<ErrorCode> outcomes;
  const auto note = [&](Status status) { outcomes.push_back(status.error().code); };
  std::vector<std::byte> block(4096);
  clock.advance_ns(kGateWindowNs);
  volume.read(VolumeOffset{0}, block, note);
  volume.write(VolumeOffset{0}, block, cvm::Durability::kStable, note);
  volume.write_edges(VolumeOffset{1}, std::span(block).first(10), cvm::Durability::kStable, note);
  volume.flush(note);
  EXPECT_TRUE(outcomes.empty());
  gate.shut_down();
  EXPECT_EQ(outcomes, std::vector(4, ErrorCode::kShutdown));
  EXPECT_EQ(inner->counts().reads + inner->counts().writes + inner->counts().flushes, 0u);
}

}  // namespace
}  // namespace symnas::fs

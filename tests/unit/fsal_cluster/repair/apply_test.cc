// Steps that race with other changes, repairs that are interrupted, and what is kept of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/kv/repair_keys.h"
#include "fsal_cluster/check/dump.h"
#include "fsal_cluster/repair/repair_log.h"
#include "tests/unit/fsal_cluster/repair/repair_world.h"

namespace symnas::fs::test {
namespace {

namespace keys = kv::keys;
using repair::Applied;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Several damages of every order.
void plant_many(Keys& k) {
  k.erase(k.bucket(kDirC, "empty"));                                        // no name
  k.edit_inode(kSmall, [](records::Inode& inode) { inode.set_nlink(7); });  // count
  k.erase(k.reverse(k.block_of(kSmall)));                                   // not marked
  k.add_name(kDirA, "nothing", kNobody, FileType::kRegular);                // name of nothing
  k.put(keys::token(k.fs, kSmall, kNoMount), records::TokenRecord());       // left over
  records::ReverseMap lost;
  lost.set_ino(kNobody.value());
  lost.set_blocks(1);
  k.put(k.reverse(kFreeBlock), lost);  // lost space
}

// Passes transactions on until it has seen so many that write; then the process is gone.
class DyingStore : public kv::Store {
 public:
  enum class Last { kNotSent, kReplyLost };
  DyingStore(kv::Store& store, int writes, Last last) : store_(store), left_(writes), last_(last) {}
  bool died() const { return died_; }
  void txn(kv::Txn txn, kv::TryOptions options, kv::TxnCallback done) override {
    bool writes = false;
    for (const kv::Op& op : txn.success) writes = writes || op.kind != kv::Op::Kind::kRange;
    if (died_ || (writes && left_-- == 0)) {
      if (!died_ && last_ == Last::kReplyLost) store_.txn(std::move(txn), options, [](auto) {});
      died_ = true;
      return done(fail(ErrorCode::kShutdown, "gone"));
    }
    store_.txn(std::move(txn), options, std::move(done));
  }
  std::unique_ptr<kv::Watch> watch(kv::KeyRange, Revision, kv::WatchHandler*) override {
    return nullptr;
  }
  Status compact(Revision, kv::TryOptions) override { return {}; }
  std::vector<kv::MemberStatus> status(kv::TryOptions) override { return {}; }

 private:
  kv::Store& store_;
  int left_;
  const Last last_;
  bool died_ = false;
};

class ApplyTest : public testing::Test {
 protected:
  void put(const std::string& key, const std::string& value) {
    kv::Txn txn;
    txn.success = {kv::put(key, value)};
    ASSERT_TRUE(kv::txn_blocking(world.world.store, std::move(txn), 1000).has_value());
  }
  std::string value(const std::string& key) {
    const auto found = kv::range_blocking(world.world.store, kv::single_key(key), 1, 1000);
    return found && !found->kvs.empty() ? found->kvs.front().value : "";
  }
  std::vector<records::RepairRecord> log() {
    auto read = repair::read_log(world.world.store, world.world.fs);
    return read ? *read : std::vector<records::RepairRecord>();
  }
  Result<std::uint64_t> trim() {
    return repair::trim_log(world.world.store, world.world.fs, env::system_clock().wall_ns());
  }
  // Before every other record.
  void put_record(int number, std::int64_t at_ns, std::size_t bytes) {
    records::RepairRecord record;
    record.set_at_ns(at_ns);
    record.set_finding(std::string(bytes, 'x'));
    put(keys::repair(world.world.fs, Revision{number}, 0), record.SerializeAsString());
  }
  RepairWorld world{RepairWorld::Mounted::kSole};
};

TEST_F(ApplyTest, AChangeMeanwhileMakesTheStepDoNothing) {
  world.plant([](Keys& k) { k.edit_inode(kSmall, [](records::Inode& i) { i.set_nlink(7); }); });
  const repair::Plan plan = world.plan();
  const std::string key = keys::inode(world.world.fs, kSmall);
  put(key, value(key));
  const std::string before = value(key);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].finding.damage.fault != check::Fault::kLinkCount) continue;
    const auto done = repair::apply_step(world.world.store, env::system_clock(), plan, i, "c1n1");
    ASSERT_TRUE(done.has_value());
    EXPECT_EQ(*done, Applied::kChanged);
  }
  EXPECT_EQ(value(key), before);
  EXPECT_THAT(log(), IsEmpty());
}

TEST_F(ApplyTest, WhatWasDoneIsNotDoneAgain) {
  world.plant([](Keys& k) { k.edit_inode(kSmall, [](records::Inode& i) { i.set_nlink(7); }); });
  const repair::Plan plan = world.plan();
  EXPECT_GT(world.apply(plan), 0U);
  const std::string key = keys::inode(world.world.fs, kSmall);
  const Revision revision =
      kv::range_blocking(world.world.store, kv::single_key(key), 1, 1000)->kvs[0].mod_revision;
  world.apply(plan);
  EXPECT_EQ(
      kv::range_blocking(world.world.store, kv::single_key(key), 1, 1000)->kvs[0].mod_revision,
      revision);
}

TEST_F(ApplyTest, TheRecordTellsWhatWasThere) {
  world.plant([](Keys& k) { k.erase(k.reverse(k.block_of(kSmall))); });
  world.repair_all();
  const auto all = log();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].finding(), HasSubstr("the reverse map has no entry there"));
  EXPECT_THAT(all[0].action(), HasSubstr("marks volume blocks"));
  EXPECT_EQ(all[0].head(), "c1n1");
  ASSERT_EQ(all[0].changes_size(), 1);
  EXPECT_FALSE(all[0].changes(0).has_before());
  EXPECT_TRUE(all[0].changes(0).has_after());
}

TEST_F(ApplyTest, NamesBeforeCountsAndFreesLast) {
  world.plant(plant_many);
  const repair::Plan plan = world.plan();
  EXPECT_EQ(plan.first_order(), repair::Order::kMarkUsed);
  for (const repair::Step& step : plan.steps) {
    if (step.finding.damage.fault == check::Fault::kReverseLost) {
      EXPECT_EQ(step.verdict, repair::Verdict::kLater);
    }
    if (step.finding.damage.fault == check::Fault::kReverseMissing) {
      EXPECT_EQ(step.verdict, repair::Verdict::kRepair);
    }
  }
  int rounds = 0;
  EXPECT_THAT(lines(world.repair_all(&rounds)), IsEmpty());
  EXPECT_GE(rounds, 4);
}

TEST_F(ApplyTest, WhatHasNoNameGoesToLostAndFound) {
  world.plant([](Keys& k) { k.erase(k.bucket(kDirC, "empty")); });
  world.repair_all();
  auto view = check::View::open(world.world.store, "u04");
  ASSERT_TRUE(view.has_value());
  const auto ino = check::resolve(*view, "/lost+found/#22");
  ASSERT_TRUE(ino.has_value()) << ino.error().message;
  EXPECT_EQ(*ino, kEmpty);
  const auto directory = check::resolve(*view, "/lost+found");
  const auto dump = check::dump_inode(*view, *directory);
  ASSERT_TRUE(dump.has_value());
  EXPECT_EQ(dump->inode.mode(), 0700U);
  EXPECT_EQ(dump->inode.uid(), 0U);
}

// However far it came: a second run finishes it.
TEST_F(ApplyTest, ARepairThatDiesAtAnyStepCanBeRunAgain) {
  for (const auto last : {DyingStore::Last::kNotSent, DyingStore::Last::kReplyLost}) {
    bool died = true;
    for (int writes = 0; died; ++writes) {
      RepairWorld one(RepairWorld::Mounted::kSole);
      one.plant(plant_many);
      died = false;
      for (int round = 0; round < 8 && !died; ++round) {
        const repair::Plan plan = one.plan();
        DyingStore dying(one.world.store, round == 0 ? writes : 1000, last);
        const auto done = repair::apply_plan(dying, env::system_clock(), plan, "c1n1",
                                             [](const repair::Outcome&) { return Status(); });
        died = dying.died();
        EXPECT_EQ(done.has_value(), !died);
      }
      EXPECT_THAT(lines(one.repair_all()), IsEmpty()) << "died after " << writes;
      one.world.create(one.world.root(), "after");
    }
  }
}

// The mount creates, writes and removes meanwhile, in the directories that are repaired.
TEST_F(ApplyTest, UnderLoad) {
  world.plant(plant_many);
  std::atomic<bool> stop = false;
  std::atomic<int> done = 0;
  std::thread load([&] {
    const Handle a = {world.world.fs, kDirA, Generation{1}};
    for (int i = 0; !stop; ++i) {
      const Handle file =
          world.world.create(a, "load" + std::to_string(i % 7) + "-" + std::to_string(i));
      world.world.write(file, 0, 5'000);
      ++done;
    }
  });
  while (done < 3) std::this_thread::yield();
  const repair::Plan left = world.repair_all();
  const int during = done;
  stop = true;
  load.join();
  EXPECT_THAT(lines(left), IsEmpty());
  EXPECT_GT(during, 3);
  EXPECT_THAT(lines(world.plan()), IsEmpty());
}

TEST_F(ApplyTest, WhatIsKeptIsBounded) {
  for (int i = 0; i < 1010; ++i)
    put(keys::repair(world.world.fs, Revision{i + 1}, 0),
        records::RepairRecord().SerializeAsString());
  ASSERT_TRUE(trim().has_value());
  EXPECT_THAT(log(), SizeIs(1000));
  EXPECT_EQ(
      kv::range_blocking(world.world.store,
                         kv::single_key(keys::repair(world.world.fs, Revision{1}, 0)), 1, 1000)
          ->count,
      0);
}

TEST_F(ApplyTest, RecordsOfTheLastHoursAreKept) {
  const std::int64_t now_ns = env::system_clock().wall_ns();
  for (int i = 0; i < 1010; ++i) put_record(i + 1, i < 4 ? 0 : now_ns, 1);
  ASSERT_TRUE(trim().has_value());
  EXPECT_THAT(log(), SizeIs(1006));
}

TEST_F(ApplyTest, ARepairEndsWhenItsRecordsTakeTooMuch) {
  world.plant([](Keys& k) { k.edit_inode(kSmall, [](records::Inode& i) { i.set_nlink(7); }); });
  const auto run = [&] {
    return repair::apply_plan(world.world.store, env::system_clock(), world.plan(), "c1n1",
                              [](const repair::Outcome&) { return Status(); });
  };
  const std::int64_t now_ns = env::system_clock().wall_ns();
  for (int i = 1; i <= 68; ++i) put_record(i, now_ns, 1'000'000);
  const auto full = run();
  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error().code, ErrorCode::kNoSpace);
  EXPECT_THAT(full.error().message, HasSubstr("64 MiB"));
  for (int i = 1; i <= 3; ++i) put_record(i, 0, 1'000'000);  // old
  const auto done = run();
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_THAT(*done, Not(IsEmpty()));
}

}  // namespace
}  // namespace symnas::fs::test

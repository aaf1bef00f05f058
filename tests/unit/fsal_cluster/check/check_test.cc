// A whole check on a store: paths, a second look, history that is compacted away.
#include "fsal_cluster/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "fsal_cluster/schema/stamp.h"
#include "tests/support/forwarding_store.h"
#include "tests/unit/fsal_cluster/check/check_world.h"

namespace symnas::fs::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CheckTest : public testing::Test {
 protected:
  check::Report run(std::function<void()> pause = [] {}) {
    auto report = check::check_filesystem(world.store, "u04", [&] {
      ++pauses;
      pause();
    });
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report ? *report : check::Report{};
  }
  void change(kv::Op op) {
    kv::Txn txn;
    txn.success = {std::move(op)};
    ASSERT_TRUE(kv::txn_blocking(world.store, std::move(txn), 1000));
  }
  std::int64_t stamp_ns() const {
    for (const kv::KeyValue& kv : world.dump()) {
      if (kv.key == kv::keys::stamp(world.fs))
        return static_cast<std::int64_t>(read_be64(kv.value, 0));
    }
    ADD_FAILURE() << "there is no stamp";
    return 0;
  }
  void set_stamp(std::int64_t time_ns) {
    change(kv::put(kv::keys::stamp(world.fs), encode_stamp(time_ns)));
  }
  static std::vector<std::string> lines(const check::Report& report) {
    std::vector<std::string> out;
    for (const check::Finding& finding : report.findings) out.push_back(report.line(finding));
    return out;
  }

  CheckWorld world;
  int pauses = 0;
};

TEST_F(CheckTest, A_sound_filesystem) {
  world.mount();
  world.populate();
  const check::Report report = run();
  EXPECT_THAT(lines(report), IsEmpty());
  EXPECT_EQ(report.total, 0u);
  EXPECT_EQ(report.summary.files, 6u);
  EXPECT_EQ(report.volume_blocks, world.context().volume_blocks);
  EXPECT_EQ(pauses, 0);
}

TEST_F(CheckTest, A_finding_has_the_path_of_its_inode) {
  world.mount();
  const Handle a = world.mkdir(world.root(), "a");
  const Handle b = world.mkdir(a, "b\n");
  const Handle file = world.create(b, "file");
  records::Inode inode;
  inode.set_type(1);
  inode.set_nlink(2);
  inode.set_generation(1);
  change(kv::put(kv::keys::inode(world.fs, file.ino), inode.SerializeAsString()));
  change(kv::put(kv::keys::stamp(world.fs), std::string(8, '\x7f')));
  EXPECT_THAT(lines(run()),
              ElementsAre("/a/b\\x0a/file (inode 18): nlink is 2, 1 name leads to it"));
}

TEST_F(CheckTest, What_a_mount_is_mending_is_looked_at_again) {
  world.mount();
  const std::string times = kv::keys::directory_times(world.fs, Ino{300});
  change(kv::put(times, ""));
  change(kv::put(kv::keys::stamp(world.fs), std::string(8, '\x7f')));
  EXPECT_THAT(lines(run([&] { change(kv::erase(times)); })), IsEmpty());
  EXPECT_EQ(pauses, 1);
}

// A batch of a head that stood still for two minutes lands after a change of another head.
TEST_F(CheckTest, A_stamp_that_was_set_back_is_looked_at_again) {
  world.mount();
  world.populate();
  const std::int64_t now_ns = stamp_ns();
  set_stamp(now_ns - 120'000'000'000);
  EXPECT_THAT(lines(run([&] { set_stamp(now_ns); })), IsEmpty());
  EXPECT_EQ(pauses, 1);
}

TEST_F(CheckTest, A_ctime_ahead_of_a_stamp_that_advances_is_found) {
  world.mount();
  const Handle file = world.create(world.root(), "file");
  std::int64_t now_ns = stamp_ns();
  records::Inode inode;
  for (const kv::KeyValue& kv : world.dump()) {
    if (kv.key != kv::keys::inode(world.fs, file.ino)) continue;
    ASSERT_TRUE(inode.ParseFromString(kv.value));
  }
  inode.set_ctime_ns(now_ns + 3'600'000'000'000);
  change(kv::put(kv::keys::inode(world.fs, file.ino), inode.SerializeAsString()));
  set_stamp(now_ns);
  EXPECT_THAT(lines(run([&] { set_stamp(now_ns += 2'500'000'000); })),
              ElementsAre(testing::HasSubstr("more than 60 s after the filesystem's time")));
  EXPECT_GT(pauses, 1);
}

TEST_F(CheckTest, What_nobody_mends_is_found_in_the_end) {
  world.mount();
  change(kv::put(kv::keys::directory_times(world.fs, Ino{300}), ""));
  change(kv::put(kv::keys::stamp(world.fs), std::string(8, '\x7f')));
  EXPECT_THAT(lines(run()), ElementsAre("inode 300: has directory times, but does not exist"));
  EXPECT_GT(pauses, 1);
}

TEST_F(CheckTest, There_is_no_such_filesystem) {
  const auto report = check::check_filesystem(world.store, "u05", [] {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kNotFound);
}

// Compacts the store whenever a page has been read.
class CompactedStore final : public symnas::test::ForwardingStore {
 public:
  CompactedStore(kv::Store& store, int times)
      : ForwardingStore(store), store_(store), times_(times) {}
  void txn(kv::Txn txn, kv::TryOptions options, kv::TxnCallback done) override {
    const bool pinned = !txn.success.empty() && txn.success[0].revision != Revision{};
    if (pinned && times_ > 0 && --times_ % 2 == 0) {
      kv::Txn touch;
      touch.success = {kv::put("x", "")};
      const auto touched = kv::txn_blocking(store_, std::move(touch), 1000);
      EXPECT_TRUE(store_.compact(touched->revision, {}).has_value());
    }
    ForwardingStore::txn(std::move(txn), options, std::move(done));
  }

 private:
  kv::Store& store_;
  int times_;
};

TEST_F(CheckTest, A_revision_that_is_compacted_away_begins_the_check_anew) {
  CompactedStore once(world.store, 2);
  EXPECT_TRUE(check::check_filesystem(once, "u04", [] {}).has_value());
  CompactedStore always(world.store, 1000);
  const auto report = check::check_filesystem(always, "u04", [] {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kCompacted);
}

}  // namespace
}  // namespace symnas::fs::test

#include "fsal_cluster/state/mount_end.h"

#include <gtest/gtest.h>

#include "fsal_cluster/state/mount_claim.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

const EndProof kProof{"c1n2", "reservation preempted on 4 LUNs"};

class MountEndTest : public testing::Test {
 protected:
  MountId claim(std::uint64_t epoch) {
    ClaimOptions options;
    options.fs = formatted.fs;
    options.filesystem_name = "u04";
    options.record.set_vnfs("vnfs1");
    options.record.set_vnfs_id(3);
    options.record.set_epoch(epoch);
    return claim_mount(*formatted.store, options, 1000)->id;
  }
  Status end(MountId id, const EndProof& proof = kProof) {
    return end_mount(*formatted.store, env::system_clock(), formatted.fs, id, proof);
  }
  std::vector<MountEntry> mounts() { return *list_mounts(*formatted.store, formatted.fs); }
  Formatted formatted;
};

TEST_F(MountEndTest, PutsTheProofOnce) {
  const MountId id = claim(1);
  ASSERT_TRUE(end(id));
  ASSERT_TRUE(end(id, EndProof{"another", "later"}));
  ASSERT_EQ(mounts().size(), 1u);
  EXPECT_EQ(mounts()[0].ended->by(), "c1n2");
  EXPECT_EQ(mounts()[0].ended->proof(), kProof.proof);
}

TEST_F(MountEndTest, AMountThatNeverWasIsNotEnded) {
  ASSERT_TRUE(end(MountId{99}));
  EXPECT_TRUE(mounts().empty());
}

TEST_F(MountEndTest, AdvancesTheStamp) {
  const std::string key = kv::keys::stamp(formatted.fs);
  const auto stamp = [&] {
    return kv::range_blocking(*formatted.store, kv::single_key(key), 1, 1000)->kvs[0];
  };
  const MountId id = claim(1);
  const kv::KeyValue before = stamp();
  ASSERT_TRUE(end(id));
  EXPECT_EQ(stamp().version, before.version + 1);
  EXPECT_GT(stamp().value, before.value) << "big-endian: a later time";
}

TEST_F(MountEndTest, LostRepliesEndOnce) {
  for (const kv::TxnFault::Kind fault : kCommitFaults) {
    Formatted fresh;
    ClaimOptions options;
    options.fs = fresh.fs;
    options.filesystem_name = "u04";
    const MountId id = claim_mount(*fresh.store, options, 1000)->id;
    fresh.faults->push(fault, [](const kv::Txn& txn) { return kv::could_put(txn); });
    ASSERT_TRUE(end_mount(*fresh.store, env::system_clock(), fresh.fs, id, kProof));
    EXPECT_TRUE(fresh.faults->empty());
    EXPECT_FALSE((*list_mounts(*fresh.store, fresh.fs))[0].alive());
  }
}

TEST_F(MountEndTest, AfterAFenceAllMountsOfTheInstanceEnd) {
  const MountId id = claim(5);
  const auto none =
      end_mounts_of(*formatted.store, env::system_clock(), VnfsId{4}, Epoch{9}, kProof);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty()) << "another VNFS";
  const auto older =
      end_mounts_of(*formatted.store, env::system_clock(), VnfsId{3}, Epoch{4}, kProof);
  ASSERT_TRUE(older);
  EXPECT_TRUE(older->empty()) << "a newer epoch than the fenced one";
  const auto ended =
      end_mounts_of(*formatted.store, env::system_clock(), VnfsId{3}, Epoch{5}, kProof);
  ASSERT_TRUE(ended);
  ASSERT_EQ(ended->size(), 1u);
  EXPECT_EQ((*ended)[0].filesystem, "u04");
  EXPECT_EQ((*ended)[0].mount.id, id);
  EXPECT_FALSE(mounts()[0].alive());
}

}  // namespace
}  // namespace symnas::fs

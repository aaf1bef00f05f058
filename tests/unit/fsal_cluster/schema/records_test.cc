// Compares one fixed record of each kind with checked-in hex: an accidental change of a persisted
// format fails here.
#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs::records {
namespace {

template <class Record>
std::string hex_of(const Record& record) {
  return to_hex(record.SerializeAsString());
}

TEST(RecordsTest, Filesystem) {
  FilesystemRecord record;
  record.set_name("u04");
  record.set_fsid(7);
  record.set_volume("v1");
  record.set_uuid("0123456789abcdef");
  record.set_name_hash_key("fedcba9876543210");
  record.set_schema_version(1);
  record.set_block_bytes(4096);
  record.set_group_blocks(16384);
  record.set_removing(true);
  EXPECT_EQ(hex_of(record),
            "0a0375303410071a0276312210303132333435363738396162636465662a10666564636261393837363534"
            "333231303001388020408080014801");
}

TEST(RecordsTest, MountAndEnd) {
  MountRecord mount;
  mount.set_head("c1n1");
  mount.set_vnfs("vnfs1");
  mount.set_vnfs_id(3);
  mount.set_epoch(17);
  mount.set_head_incarnation("boot");
  mount.set_pid(100);
  mount.set_created_ns(5);
  mount.set_answers_ms(450);
  EXPECT_EQ(hex_of(mount), "0a0463316e311205766e667331180320112a04626f6f743064380540c203");
  EndRecord end;
  end.set_by("self");
  end.set_proof("clean close");
  end.set_ended_ns(6);
  EXPECT_EQ(hex_of(end), "0a0473656c66120b636c65616e20636c6f73651806");
}

TEST(RecordsTest, Heartbeat) {
  HeartbeatRecord heartbeat;
  heartbeat.set_sent_ns(5);
  heartbeat.set_quiesced(300);
  heartbeat.set_looked(301);
  heartbeat.set_allocated_blocks(-2);
  EXPECT_EQ(hex_of(heartbeat), "09050000000000000010ac0218ad022003");
}

TEST(RecordsTest, LockOfAnNlmClient) {
  LockRecord lock;
  lock.set_ino(18);
  lock.set_vnfs("vnfs2");
  lock.set_protocol(LockRecord::NLM);
  lock.set_client("10.0.0.202 10.0.0.102 vm1");
  lock.set_owner(std::string("\0\0\0\1", 4) + "0@vm1");
  auto* range = lock.add_ranges();
  range->set_start(4);
  range->set_end(9);
  range->set_exclusive(true);
  lock.set_nsm_state(5);
  EXPECT_EQ(hex_of(lock),
            "08121205766e6673321801221931302e302e302e3230322031302e302e302e31303220766d31"
            "2a09000000013040766d3132060804100918013805");
}

TEST(RecordsTest, LockOfAnNfs4Client) {
  LockRecord lock;
  lock.set_ino(18);
  lock.set_client("id");
  lock.set_since_ns(300);
  lock.set_verifier("12345678");
  EXPECT_EQ(hex_of(lock),
            "081222026964"
            "40ac02"
            "4a083132333435363738");
}

TEST(RecordsTest, OrderAboutALock) {
  LockOrder order;
  order.set_kind(LockOrder::CONFLICT);
  order.set_lock_revision(300);
  order.set_ordered_ns(5);
  order.set_by("c1n1");
  EXPECT_EQ(hex_of(order),
            "080110ac021805"
            "220463316e31");
  order.set_start(10);
  order.set_end(300);
  EXPECT_EQ(hex_of(order),
            "080110ac021805"
            "220463316e31"
            "280a30ac02");
}

TEST(RecordsTest, Inode) {
  Inode inode;
  inode.set_type(1);
  inode.set_mode(0644);
  inode.set_uid(1000);
  inode.set_gid(100);
  inode.set_nlink(1);
  inode.set_size_bytes(8192);
  inode.set_generation(9);
  inode.set_map_generation(2);
  inode.set_parent(1);
  inode.set_atime_ns(1);
  inode.set_mtime_ns(2);
  inode.set_ctime_ns(-1);
  Extent* extent = inode.add_extents();
  extent->set_file_block(1);
  extent->set_volume_block(300);
  extent->set_blocks(2);
  extent->set_written("\x03");
  inode.set_chunked(true);
  inode.set_exclusive_verifier(0x0102030405060708);
  inode.set_rdev_major(8);
  inode.set_rdev_minor(1);
  inode.set_symlink_target("t");
  inode.set_used_blocks(2);
  inode.set_trim_block(4);
  Ace& ace = *inode.mutable_acl()->add_aces();
  ace.set_type(Ace::DENY);
  ace.set_who(Ace::GROUP);
  ace.set_id(5);
  ace.set_flags(1);
  ace.set_mask(3);
  inode.set_xattr_count(3);
  inode.set_xattr_bytes(300);
  EXPECT_EQ(
      hex_of(inode),
      "080110a40318e8072064280130804038094002480151010000000000000059020000000000000061ffffffffffff"
      "ffff6a0a080110ac021802220103700179080706050403020180010888010192010174980102a00104b2010c0a0a"
      "08011001180520012803b80103c001ac02");
}

TEST(RecordsTest, DirectoryTimes) {
  DirectoryTimes times;
  times.set_time_ns(3);
  EXPECT_EQ(hex_of(times), "090300000000000000");
  times.set_mtime_ns(0);
  EXPECT_EQ(hex_of(times), "090300000000000000110000000000000000");
}

TEST(RecordsTest, DirentBucket) {
  DirentBucket bucket;
  Dirent* entry = bucket.add_entries();
  entry->set_slot(1);
  entry->set_name("name");
  entry->set_ino(20);
  entry->set_type(1);
  EXPECT_EQ(hex_of(bucket), "0a0c080112046e616d6518142001");
}

TEST(RecordsTest, MapAndSpace) {
  MapChunk chunk;
  Extent* extent = chunk.add_extents();
  extent->set_volume_block(7);
  extent->set_blocks(1);
  EXPECT_EQ(hex_of(chunk), "0a0410071801");
  ReverseMap reverse;
  reverse.set_ino(20);
  reverse.set_map_generation(1);
  reverse.set_file_block(16);
  reverse.set_blocks(4);
  EXPECT_EQ(hex_of(reverse), "0814100118102004");
  GroupOwner owner;
  owner.set_mount(5);
  EXPECT_EQ(hex_of(owner), "0805");
}

TEST(RecordsTest, OrphanAndToken) {
  Orphan orphan;
  orphan.set_generation(9);
  orphan.set_map_generation(2);
  orphan.set_open(true);
  orphan.set_mount(5);
  orphan.set_truncated(true);
  orphan.add_extents()->set_blocks(1);
  EXPECT_EQ(hex_of(orphan), "0809100218012005280132021801");
  TokenRecord token;
  token.set_mode(TokenRecord::X);
  token.set_wrote(true);
  EXPECT_EQ(hex_of(token), "08011001");
}

}  // namespace
}  // namespace symnas::fs::records

// The encoding of fixed records: what is in etcd today must be readable tomorrow
// (docs/formats/control_records.md).
#include "vnfsd/records/records.pb.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"

namespace symnas::vnfsd::records {
namespace {

template <class Record>
std::string hex_of(const Record& record) {
  return to_hex(record.SerializeAsString());
}

TEST(Records, Cluster) {
  ClusterRecord r;
  r.set_name("lab");
  r.set_uuid("u");
  r.set_created_ns(5);
  r.set_config_version(6);
  r.add_recent_changes("c");
  EXPECT_EQ(hex_of(r),
            "0a036c6162"
            "120175"
            "1805"
            "2006"
            "2a0163");
}

TEST(Records, Head) {
  HeadRecord r;
  r.set_name("h");
  r.set_address("a");
  r.set_incarnation("i");
  r.set_agent_started_ns(1);
  r.set_version("v");
  r.add_lun_paths("p");
  r.add_luns("l");
  r.set_luns_known(true);
  r.set_draining(true);
  r.add_macs("m");
  EXPECT_EQ(hex_of(r),
            "0a0168"
            "120161"
            "1a0169"
            "2001"
            "2a0176"
            "320170"
            "3a016c"
            "4001"
            "4801"
            "5a016d");
}

TEST(Records, Event) {
  EventRecord r;
  r.set_sequence(1);
  r.set_at_ns(2);
  r.set_kind("k");
  r.set_head("h");
  r.set_vnfs("v");
  r.set_text("t");
  r.set_blackout_ms(0);
  EXPECT_EQ(hex_of(r),
            "0801"
            "1002"
            "1a016b"
            "220168"
            "2a0176"
            "320174"
            "3800");
}

TEST(Records, Network) {
  NetworkRecord r;
  r.set_name("n");
  r.set_device("d");
  r.set_mtu(9000);
  r.set_gateway("g");
  EXPECT_EQ(hex_of(r),
            "0a016e"
            "120164"
            "18a846"
            "220167");
}

TEST(Records, Export) {
  ExportRecord r;
  r.set_name("e");
  r.set_export_id(1);
  r.set_filesystem("f");
  r.set_path("/");
  r.add_clients("*");
  r.set_access(ACCESS_RO);
  r.set_squash(SQUASH_ALL);
  r.set_anon_uid(0);
  r.set_anon_gid(65534);
  ClientRule& rule = *r.add_rules();
  rule.set_who("h");
  rule.set_access(ACCESS_RO);
  rule.set_anon_uid(5);
  r.set_manage_gids(true);
  EXPECT_EQ(hex_of(r),
            "0a0165"
            "1001"
            "1a0166"
            "22012f"
            "2a012a"
            "3001"
            "3802"
            "4800"
            "50feff03"
            "5a07"
            "0a0168"
            "1001"
            "2005"
            "6001");
}

TEST(Records, Security) {
  ExportRecord r;
  r.set_name("e");
  r.add_sec(SECURITY_KRB5P);
  r.add_sec(SECURITY_SYS);
  r.add_rules()->add_sec(SECURITY_KRB5);
  EXPECT_EQ(hex_of(r),
            "0a0165"
            "5a03"
            "320101"
            "6a020300");
  HeadRecord head;
  head.set_seal_key("k");
  EXPECT_EQ(hex_of(head), "8a01016b");
}

TEST(Records, Keytab) {
  KeytabRecord r;
  KeytabKey& key = *r.add_keys();
  key.set_principal("p");
  key.set_kvno(2);
  key.set_enctype(18);
  r.set_set_ns(5);
  r.set_box("b");
  (*r.mutable_wraps())["h"] = "w";
  (*r.mutable_wrapped_for())["h"] = "k";
  EXPECT_EQ(hex_of(r),
            "0a07"
            "0a0170"
            "1002"
            "1812"
            "1005"
            "1a0162"
            "2206"
            "0a0168"
            "120177"
            "2a06"
            "0a0168"
            "12016b");
}

TEST(Records, Vnfs) {
  VnfsRecord r;
  r.set_name("v");
  r.set_vnfs_id(3);
  Vip& vip = *r.add_vips();
  vip.set_address("a");
  vip.set_prefix_length(24);
  vip.set_network("n");
  r.add_exports("e");
  r.add_heads("h");
  r.set_stopped(true);
  r.set_failback(FAILBACK_AUTO);
  r.set_pinned("h");
  r.set_killed_epoch(1);
  r.set_scope_names_cluster(true);
  EXPECT_EQ(hex_of(r),
            "0a0176"
            "1003"
            "1a08"
            "0a0161"
            "1018"
            "1a016e"
            "220165"
            "2a0168"
            "3001"
            "3801"
            "420168"
            "4801"
            "5801");
}

TEST(Records, Owner) {
  OwnerRecord r;
  r.set_head("h");
  r.set_incarnation("i");
  r.set_epoch(17);
  r.set_vnfs_id(3);
  r.set_claimed_ns(4);
  EXPECT_EQ(hex_of(r),
            "0a0168"
            "120169"
            "1811"
            "2003"
            "2804");
}

TEST(Records, Move) {
  MoveRecord r;
  r.set_from("f");
  r.set_to("t");
  r.set_ordered_ns(3);
  r.set_ready_incarnation("i");
  r.mutable_departure()->set_kept(2);
  r.set_cause(MOVE_FAILBACK);
  r.set_refusal("w");
  r.set_pinned_before("p");
  EXPECT_EQ(hex_of(r),
            "0a0166"
            "120174"
            "1803"
            "220169"
            "2a02"
            "2002"
            "3002"
            "3a0177"
            "420170");
}

TEST(Records, Refusals) {
  RefusalsRecord r;
  Refusal& refusal = *r.add_refusals();
  refusal.set_head("h");
  refusal.set_incarnation("i");
  refusal.set_why("w");
  refusal.set_at_ns(4);
  EXPECT_EQ(hex_of(r),
            "0a0b"
            "0a0168"
            "120169"
            "1a0177"
            "2004");
}

}  // namespace
}  // namespace symnas::vnfsd::records

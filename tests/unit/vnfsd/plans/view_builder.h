// ViewBuilder: a ClusterView as tests want it, made through the real plans and an in-memory store.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "common/kv/mem/mem_store.h"
#include "cvm/volume.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/records/cluster_view.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd {

inline constexpr std::int64_t kTestDeadlineMs = 10'000;  // on a machine with other work, too

class ViewBuilder {
 public:
  explicit ViewBuilder(kv::MemStoreOptions options = {}) : store(std::move(options)) {
    records::ClusterRecord cluster;
    cluster.set_name("lab");
    cluster.set_uuid(std::string(16, 'c'));
    cluster.set_level(level::kOwn);
    put(kv::keys::kCluster, cluster.SerializeAsString());
    head("c1n1", "10.99.0.1");
  }

  void put(const std::string& key, const std::string& value) {
    kv::Txn txn;
    txn.success.push_back(kv::put(key, value));
    ASSERT_TRUE(kv::txn_blocking(store, std::move(txn), kTestDeadlineMs));
  }
  ViewBuilder& head(const std::string& name, const std::string& address) {
    records::HeadRecord record;
    record.set_name(name);
    record.set_address(address);
    record.set_incarnation("boot of " + name);
    put(kv::keys::kHeads + name, record.SerializeAsString());
    return *this;
  }
  // c1n1 is there from the beginning.
  ViewBuilder& three_heads() { return head("c1n2", "10.99.0.2").head("c1n3", "10.99.0.3"); }
  ViewBuilder& lun(const std::string& name) {
    cvm::records::LunRecord record;
    record.set_name(name);
    record.set_uuid((name + std::string(16, '.')).substr(0, 16));
    record.set_size_bytes(std::uint64_t{1} << 30);
    record.set_logical_block_bytes(512);
    return apply([&](const ClusterView& v) { return plan_lun_import(v, record, "c1n1", "/l"); });
  }
  ViewBuilder& filesystem(const std::string& name, const std::string& volume) {
    fs::records::FilesystemRecord record;
    record.set_name(name);
    record.set_volume(volume);
    record.set_fsid(1);
    put(kv::keys::kFilesystems + name, record.SerializeAsString());
    return *this;
  }
  ViewBuilder& owner(const std::string& vnfs, const std::string& head_name) {
    records::OwnerRecord record;
    record.set_head(head_name);
    record.set_epoch(7);
    record.set_vnfs_id(1);
    put(kv::keys::kOwners + vnfs, record.SerializeAsString());
    return *this;
  }
  // A network, four LUNs, a volume, a filesystem and an export: what a VNFS needs.
  ViewBuilder& basics() {
    for (const char* name : {"LUN0", "LUN1", "LUN2", "LUN3"}) lun(name);
    apply([](const ClusterView& v) { return plan_volume_create(v, volume()); });
    filesystem("u04", "v1");
    apply([](const ClusterView& v) { return plan_network_create(v, {"nfs0", "eth1", 0, ""}); });
    return apply([](const ClusterView& v) { return plan_export_create(v, exported()); });
  }
  // A filesystem on LUN2 and LUN3 that no export uses, and which an instance of vnfs1 (ID 1) of the
  // first epoch has mounted.
  ViewBuilder& mounted_beside() {
    apply([](const ClusterView& v) {
      VolumeRequest r{"v0", {"LUN2", "LUN3"}, 256 << 10, {}};
      r.uuid.bytes[0] = 2;
      return plan_volume_create(v, r);
    });
    fs::records::FilesystemRecord record;
    record.set_name("old");
    record.set_volume("v0");
    record.set_fsid(2);
    put(kv::keys::kFilesystems + "old", record.SerializeAsString());
    fs::records::MountRecord mount;
    mount.set_vnfs_id(1);
    mount.set_epoch(1);
    put(kv::keys::mount(FsId(2), MountId(5)), mount.SerializeAsString());
    return *this;
  }
  // The primary first.
  ViewBuilder& vnfs1(const std::vector<std::string>& heads = {"c1n1"}) {
    return apply([&](const ClusterView& v) {
      VnfsRequest request = vnfs();
      request.heads = heads;
      return plan_vnfs_create(v, request);
    });
  }

  static VolumeRequest volume() {
    VolumeRequest r{"v1", {"LUN0", "LUN1"}, 256 << 10, {}};
    r.uuid.bytes[0] = 1;
    return r;
  }
  static ExportRequest exported() { return {"u04", "u04", "/", {"10.0.0.0/24"}, "rw", "root"}; }
  static VnfsRequest vnfs() { return {"vnfs1", {"10.0.0.101/24"}, {"nfs0"}, {"u04"}, {"c1n1"}}; }

  ViewBuilder& apply(const Planner& planner) {
    const auto done = make_change(store, planner, Mode::kCommit);
    EXPECT_TRUE(done) << done.error().message;
    return *this;
  }
  ClusterView view() {
    auto view = read_view(store, kTestDeadlineMs);
    EXPECT_TRUE(view);
    return std::move(*view);
  }

  kv::MemStore store;
};

// The code of a failed result; fails the test when it succeeded.
template <class T>
ErrorCode code_of(const Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result ? ErrorCode::kInternal : result.error().code;
}

}  // namespace symnas::vnfsd

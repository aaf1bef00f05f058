#include "tests/sim/service/records.h"

#include "common/kv/keys.h"
#include "tests/sim/runtime/simulation.h"
#include "vnfsd/records/levels.h"

namespace symnas::sim {

namespace {

constexpr std::int64_t kDeadlineMs = 10'000;
constexpr std::int64_t kAgainNs = 50'000'000;

void put(kv::Store& store, const std::vector<kv::Op>& puts) {
  for (;;) {
    kv::Txn txn;
    txn.success = puts;
    if (kv::txn_blocking(store, std::move(txn), kDeadlineMs)) return;
    sleep_ns(kAgainNs);
  }
}

}  // namespace

void make_records(kv::Store& store, const std::vector<std::string>& heads) {
  namespace records = vnfsd::records;
  records::ClusterRecord cluster;
  cluster.set_name("sim");
  cluster.set_uuid(std::string(16, 'c'));
  cluster.set_config_version(1);
  cluster.set_level(vnfsd::level::kOwn);
  records::VnfsRecord vnfs;
  vnfs.set_name(kService);
  vnfs.set_vnfs_id(kServiceId);
  for (const std::string& head : heads) vnfs.add_heads(head);
  put(store, {kv::put(kv::keys::kCluster, cluster.SerializeAsString()),
              kv::put(kv::keys::kVnfs + kService, vnfs.SerializeAsString())});
}

void register_boot(kv::Store& store, const vnfsd::HeadBoot& boot) {
  for (;; sleep_ns(kAgainNs)) {
    const auto view = vnfsd::read_view(store, kDeadlineMs);
    if (!view) continue;
    auto plan = vnfsd::plan_register(*view, boot, {});
    if (!plan) continue;  // fenced: until the next boot
    const auto done = kv::txn_blocking(store, std::move(*plan), kDeadlineMs);
    if (done && done->succeeded) return;
  }
}

void say_luns_known(kv::Store& store, const vnfsd::ClusterView& view, const std::string& head) {
  const auto mine = view.heads.find(head);
  if (mine == view.heads.end() || mine->second.record.luns_known()) return;
  vnfsd::records::HeadRecord record = mine->second.record;
  record.set_luns_known(true);
  const std::string key = kv::keys::kHeads + head;
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(key, mine->second.mod_revision));
  txn.success.push_back(kv::put(key, record.SerializeAsString()));
  static_cast<void>(kv::txn_blocking(store, std::move(txn), kDeadlineMs));
}

}  // namespace symnas::sim

#include "vnfsd/records/cluster_view.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/core.h>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"

namespace symnas::vnfsd {
namespace {

// Takes the record if the key lies in the table's prefix; false: it does not.
template <class Record>
Result<bool> take(Table<Record>& table, const std::string& prefix, const kv::KeyValue& kv) {
  if (!kv.key.starts_with(prefix)) return false;
  Stored<Record> stored;
  if (!stored.record.ParseFromString(kv.value)) {
    return fail(ErrorCode::kCorrupt, fmt::format("record {}: cannot be parsed", kv.key));
  }
  stored.mod_revision = kv.mod_revision;
  table.emplace(kv.key.substr(prefix.size()), std::move(stored));
  return true;
}

Status take_counter(ClusterView& view, const kv::KeyValue& kv) {
  std::uint64_t value = 0;
  const char* const last = kv.value.data() + kv.value.size();
  const auto [end, error] = std::from_chars(kv.value.data(), last, value);
  if (error != std::errc{} || end != last) {
    return fail(ErrorCode::kCorrupt, fmt::format("counter {}: not a number", kv.key));
  }
  view.counters[kv.key.substr(kv::keys::kCounters.size())] = {value, kv.mod_revision};
  return {};
}

Status take_any(ClusterView& view, const kv::KeyValue& kv) {
  using namespace kv::keys;
  if (kv.key == kCluster) {
    if (!view.cluster.record.ParseFromString(kv.value)) {
      return fail(ErrorCode::kCorrupt, "record c/cluster: cannot be parsed");
    }
    view.cluster.mod_revision = kv.mod_revision;
    return {};
  }
  if (kv.key.starts_with(kCounters)) return take_counter(view, kv);
  // Unknown kinds belong to a newer version: left alone.
  bool taken = false;
  const auto in = [&](auto& table, const std::string& prefix) -> Status {
    if (taken) return {};
    SYMNAS_ASSIGN(taken, take(table, prefix, kv));
    return {};
  };
  SYMNAS_TRY(in(view.heads, kHeads));
  SYMNAS_TRY(in(view.removed, kRemoved));
  SYMNAS_TRY(in(view.admissions, kAdmissions));
  SYMNAS_TRY(in(view.fenced_boots, kFencedBoots));
  SYMNAS_TRY(in(view.networks, kNetworks));
  SYMNAS_TRY(in(view.luns, kLuns));
  SYMNAS_TRY(in(view.volumes, kVolumes));
  SYMNAS_TRY(in(view.filesystems, kFilesystems));
  SYMNAS_TRY(in(view.exports, kExports));
  SYMNAS_TRY(in(view.vnfses, kVnfs));
  SYMNAS_TRY(in(view.fences, kFences));
  SYMNAS_TRY(in(view.moves, kMoves));
  SYMNAS_TRY(in(view.refusals, kRefusals));
  SYMNAS_TRY(in(view.connections, kConnections));
  SYMNAS_TRY(in(view.served, kServed));
  SYMNAS_TRY(in(view.left, kLeft));
  SYMNAS_TRY(in(view.keytabs, kKeytabs));
  return in(view.owners, kOwners);
}

}  // namespace

Result<ClusterView> view_of(const std::vector<kv::KeyValue>& kvs, Revision revision) {
  ClusterView view;
  view.revision = revision;
  for (const kv::KeyValue& kv : kvs) SYMNAS_TRY(take_any(view, kv));
  return view;
}

Result<ClusterRecords> read_records(kv::Store& store, std::int64_t deadline_ms) {
  kv::Txn txn;
  txn.success.push_back(kv::get_range(kv::prefix_range("c/")));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(deadline_ms);
  for (;;) {
    auto read = kv::txn_blocking(store, txn, deadline_ms);
    if (read) return ClusterRecords{std::move(read->results.at(0).kvs), read->revision};
    // A read of unknown outcome changed nothing: ask again.
    if (read.error().code != ErrorCode::kUnknownOutcome ||
        std::chrono::steady_clock::now() >= deadline) {
      return tl::unexpected<Error>(read.error());
    }
  }
}

Result<ClusterView> read_view(kv::Store& store, std::int64_t deadline_ms) {
  SYMNAS_ASSIGN(const ClusterRecords records, read_records(store, deadline_ms));
  return view_of(records.kvs, records.revision);
}

tl::unexpected<Error> no_such_object(std::string_view kind, std::string_view name) {
  return fail(
      ErrorCode::kNotFound,
      fmt::format("{} {}: does not exist (symnas {} ls shows what does)", kind, name, kind));
}

std::vector<const cvm::records::LunRecord*> luns_of_volume(const ClusterView& view,
                                                           const std::string& volume) {
  std::vector<const cvm::records::LunRecord*> found;
  const auto it = view.volumes.find(volume);
  if (it == view.volumes.end()) return found;
  for (const auto& segment : it->second.record.segments()) {
    for (const std::string& uuid : segment.lun_uuids()) {
      for (const auto& [name, lun] : view.luns) {
        if (lun.record.uuid() == uuid) found.push_back(&lun.record);
      }
    }
  }
  return found;
}

std::vector<std::string> volumes_of_vnfs(const ClusterView& view, const records::VnfsRecord& vnfs) {
  std::vector<std::string> volumes;
  const auto add_volume_of = [&](const std::string& name) {
    const auto filesystem = view.filesystems.find(name);
    if (filesystem == view.filesystems.end()) return;
    const std::string& volume = filesystem->second.record.volume();
    if (std::find(volumes.begin(), volumes.end(), volume) == volumes.end()) {
      volumes.push_back(volume);
    }
  };
  for (const std::string& name : vnfs.exports()) {
    const auto exported = view.exports.find(name);
    if (exported != view.exports.end()) add_volume_of(exported->second.record.filesystem());
  }
  const auto owner = view.owners.find(vnfs.name());
  for (const records::LeftFilesystem& left : vnfs.left()) {
    const bool mounted = owner != view.owners.end() && owner->second.record.epoch() == left.epoch();
    if (mounted) add_volume_of(left.filesystem());
  }
  return volumes;
}

}  // namespace symnas::vnfsd

#include "vnfsd/daemon/journal/later_steps.h"

#include <fmt/core.h>

#include "common/kv/keys.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/journal/tenure.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::daemon {

void LaterSteps::look(const std::map<std::string, instance::InstanceSnapshot>& instances) {
  std::map<std::string, Later> serving;
  for (const auto& [vnfs, snapshot] : instances) {
    if (snapshot.standing() != InstanceStanding::kServing) continue;
    serving[vnfs] = {snapshot.epoch, snapshot.first_request_ns, snapshot.last_reclaim_ns};
  }
  std::erase_if(later_, [&](const auto& known) { return !serving.contains(known.first); });
  for (const auto& [vnfs, later] : serving) {
    if (later.first_request_ns == 0 || later_[vnfs] == later) continue;
    if (put_later(vnfs, later)) later_[vnfs] = later;
  }
}

// Errors: kNotFound (its arrival could not be written), kConflict (its departure is being written),
// kCorrupt, those of the store.
Status LaterSteps::put_later(const std::string& vnfs, const Later& later) {
  const std::string key = kv::keys::history(vnfs, Epoch(later.epoch));
  SYMNAS_ASSIGN(const kv::OpResult read,
                kv::range_blocking(head_.store, kv::single_key(key), 0, kStoreDeadlineMs));
  if (read.kvs.empty()) return fail(ErrorCode::kNotFound, fmt::format("{}: is not there", key));
  records::TenureRecord tenure;
  if (!tenure.ParseFromString(read.kvs[0].value))
    return fail(ErrorCode::kCorrupt, fmt::format("{}: cannot be parsed", key));
  tenure.clear_later();
  const auto add = [&](std::string_view name, std::int64_t mono_ns) {
    if (mono_ns == 0) return;
    add_step(*tenure.mutable_later(), name,
             head_.clock.wall_ns() - (head_.clock.mono_ns() - mono_ns));
  };
  add(step::kFirstRequest, later.first_request_ns);
  add(step::kLastReclaim, later.last_reclaim_ns);
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(key, read.kvs[0].mod_revision));
  txn.success.push_back(put_tenure(vnfs, tenure));
  SYMNAS_ASSIGN(const auto done, kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
  if (!done.succeeded) return fail(ErrorCode::kConflict, fmt::format("{}: has changed", key));
  return {};
}

}  // namespace symnas::vnfsd::daemon

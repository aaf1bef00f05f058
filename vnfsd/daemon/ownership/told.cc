// Ownership: what supervisors tell of their instances, and what these are told of exports.
#include <fmt/core.h>

#include "common/base/log.h"
#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/ownership/ownership.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::daemon {

void Ownership::ended(const std::string& vnfs, Epoch epoch, const std::string& how) {
  events_.tell(event::kEnded, fmt::format("vnfs {}: its instance on {}, epoch {}, ended: {}", vnfs,
                                          head_.config.head_name, epoch.value(), how));
  if (Reservations* reservations = registrations_.reservations()) reservations->doubt();
}

void Ownership::vips_taken(const std::string& vnfs, const std::string& by_whom) {
  const std::string text =
      fmt::format("vnfs {}: not taken by {}: {}", vnfs, head_.config.head_name, by_whom);
  log::warn("{}", text);
  events_.tell(event::kVipTaken, text);
  reader_.look_again();  // an order to move it here is refused
}

Result<std::vector<std::pair<std::string, Epoch>>> Ownership::earlier(const std::string& vnfs) {
  SYMNAS_ASSIGN(const auto tenures, read_history(head_.store, vnfs, kStoreDeadlineMs));
  std::vector<std::pair<std::string, Epoch>> out;
  for (const records::TenureRecord& one : tenures) out.emplace_back(one.head(), Epoch(one.epoch()));
  return out;
}

// The last record written is about the exports told last: an answer that comes late has another
// revision.
Result<std::optional<Revision>> Ownership::tells_exports(const instance::InstancePlan& plan) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
  const auto said = view.served.find(plan.vnfs);
  if (said != view.served.end() && said->second.record.epoch() == plan.epoch.value() &&
      said->second.record.exports() == plan.exports_digest) {
    return std::nullopt;
  }
  records::ServedRecord record;
  record.set_epoch(plan.epoch.value());
  return put_served(plan, said == view.served.end() ? Revision{} : said->second.mod_revision,
                    record);
}

Status Ownership::exports_told(const instance::InstancePlan& plan, Revision telling,
                               const Status& taken) {
  records::ServedRecord record;
  record.set_epoch(plan.epoch.value());
  if (taken) {
    record.set_exports(plan.exports_digest);
  } else if (taken.error().code == ErrorCode::kInvalidArgument) {
    record.set_refused(plan.exports_digest);
    record.set_why(taken.error().message);
  } else {
    return taken;
  }
  SYMNAS_TRY(put_served(plan, telling, record));
  return taken;
}

Result<Revision> Ownership::put_served(const instance::InstancePlan& plan, Revision before,
                                       const records::ServedRecord& record) {
  const std::string key = kv::keys::kServed + plan.vnfs;
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(plan.owner_key, plan.owner_mod_revision));
  txn.compares.push_back(kv::mod_revision_is(key, before));
  txn.success.push_back(kv::put(key, record.SerializeAsString()));
  SYMNAS_ASSIGN(const kv::TxnResult done,
                kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs));
  if (done.succeeded) return done.revision;
  return fail(ErrorCode::kConflict,
              fmt::format("vnfs {}: its records changed while it was told", plan.vnfs));
}

}  // namespace symnas::vnfsd::daemon

#include "vnfsd/daemon/admin/exports_admin.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/admin/limits.h"
#include "vnfsd/daemon/clients/client_use.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/journal/commit.h"
#include "vnfsd/instance/ganesha_conf.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {
namespace {

// The VNFSs whose instances serve other exports then.
std::set<std::string> concerned(const ClusterView& view, const ClusterView& then) {
  std::set<std::string> out;
  for (const auto& [name, vnfs] : then.vnfses) {
    const auto before = view.vnfses.find(name);
    if (before == view.vnfses.end()) continue;
    if (exports_digest(view, before->second.record) != exports_digest(then, vnfs.record))
      out.insert(name);
  }
  return out;
}

// The VNFSs that serve an edited export, whether or not the edit changes anything: an administrator
// who repeats an edit wants to know whether it is in force.
std::set<std::string> edited(const ClusterView& view, const Change& change) {
  std::set<std::string> out;
  for (const kv::Op& op : change.txn.success) {
    const std::string& key = op.range.key;
    if (key.starts_with(kv::keys::kVnfs)) out.insert(key.substr(kv::keys::kVnfs.size()));
    if (key.starts_with(kv::keys::kKeytabs)) out.insert(key.substr(kv::keys::kKeytabs.size()));
    if (!key.starts_with(kv::keys::kExports)) continue;
    const std::string name = key.substr(kv::keys::kExports.size());
    for (const auto& [vnfs, stored] : view.vnfses) {
      const auto& exports = stored.record.exports();
      if (std::find(exports.begin(), exports.end(), name) != exports.end()) out.insert(vnfs);
    }
  }
  return out;
}

// The record about the instance that owns the VNFS now; null: there is none yet.
const records::ServedRecord* said_of_owner(const ClusterView& view, const std::string& vnfs) {
  const auto owner = view.owners.find(vnfs);
  const auto served = view.served.find(vnfs);
  const bool known = owner != view.owners.end() && served != view.served.end() &&
                     served->second.record.epoch() == owner->second.record.epoch();
  return known ? &served->second.record : nullptr;
}

// An instance that has refused the exports is told again.
void ask_again(const ClusterView& view, const std::set<std::string>& vnfses, Change& change) {
  for (const std::string& vnfs : vnfses) {
    const auto served = view.served.find(vnfs);
    if (served == view.served.end() || served->second.record.refused().empty()) continue;
    records::ServedRecord record;
    record.set_epoch(served->second.record.epoch());
    const std::string key = kv::keys::kServed + vnfs;
    change.txn.compares.push_back(kv::mod_revision_is(key, served->second.mod_revision));
    change.txn.success.push_back(kv::put(key, record.SerializeAsString()));
  }
}

// The edited records are as they were when the edit began.
Status check_unedited(const ClusterView& began, const ClusterView& view, const Change& change) {
  for (const kv::Op& op : change.txn.success) {
    if (!op.range.key.starts_with(kv::keys::kExports)) continue;
    const std::string name = op.range.key.substr(kv::keys::kExports.size());
    const auto then = began.exports.find(name);
    const auto now = view.exports.find(name);
    if (then != began.exports.end() && now != view.exports.end() &&
        then->second.mod_revision == now->second.mod_revision) {
      continue;
    }
    return fail(ErrorCode::kConflict,
                fmt::format("export {}: somebody else has changed it meanwhile (symnas export ls, "
                            "then repeat if needed)",
                            name));
  }
  return {};
}

}  // namespace

// Nothing is written that an instance could not even read.
Status ExportsAdmin::check_edit(const ClusterView& view, const Change& change) const {
  const ClusterView then = after(view, change);
  for (const std::string& vnfs : edited(view, change)) {
    if (said_of_owner(view, vnfs) != nullptr && exports_pending(view, vnfs)) {
      return fail(ErrorCode::kConflict,
                  fmt::format("vnfs {}: another change of its exports is being made (repeat in a "
                              "moment)",
                              vnfs));
    }
    SYMNAS_ASSIGN(const instance::InstancePlan plan,
                  instance::plan_instance(then, head_.config, vnfs));
    SYMNAS_TRY(instance::render_ganesha_conf(plan, instance::cluster_fsal()));
  }
  return {};
}

Result<std::string> ExportsAdmin::edit_exports(const Planner& planner, Mode mode) {
  SYMNAS_ASSIGN(const ClusterView began, read_when_ready(head_, reader_));
  ClusterView before;
  Change change;
  const Planner checked = [&](const ClusterView& now) -> Result<Change> {
    SYMNAS_ASSIGN(change, planner(now));
    SYMNAS_TRY(check_unedited(began, now, change));
    SYMNAS_TRY(check_edit(now, change));
    ask_again(now, edited(now, change), change);
    before = now;
    return change;
  };
  SYMNAS_ASSIGN(std::string what, commit(head_, events_, checked, mode));
  if (mode == Mode::kDryRun) return what;
  const std::set<std::string> vnfses = edited(before, change);
  const Status served = wait_exports_served(vnfses, kExportsServedMs);
  if (served) return what;
  if (concerned(before, after(before, change)).empty()) {
    return fail(served.error().code,
                served.error().message + " [the records said so before, and stay]");
  }
  return undo_edit(before, change, vnfses, served.error());
}

// An instance that starts will serve the records as they are, whenever that is: no error.
Status ExportsAdmin::wait_exports_served(const std::set<std::string>& vnfses,
                                         std::int64_t timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  std::set<std::string> waiting = vnfses;
  for (;;) {
    const bool is_late = std::chrono::steady_clock::now() >= deadline;
    const auto now = read_view(head_.store, kStoreDeadlineMs);
    for (auto it = waiting.begin(); now && it != waiting.end();) {
      const records::ServedRecord* said = said_of_owner(*now, *it);
      if (exports_pending(*now, *it) && (said != nullptr || !is_late)) {
        ++it;
      } else if (said != nullptr &&
                 said->refused() == exports_digest(*now, now->vnfses.at(*it).record)) {
        return fail(ErrorCode::kUnavailable, fmt::format("vnfs {}: {}", *it, said->why()));
      } else {
        it = waiting.erase(it);
      }
    }
    if (waiting.empty()) return {};
    if (is_late) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("vnfs {}: its head did not say within {} s that it serves them",
                              fmt::join(waiting, ", "), timeout_ms / 1000));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kExportsPollMs));
  }
}

Result<std::string> ExportsAdmin::undo_edit(const ClusterView& before, const Change& change,
                                            const std::set<std::string>& vnfses, const Error& why) {
  const auto undone = commit(
      head_, events_,
      [&](const ClusterView& now) { return plan_exports_undone(now, before, change); },
      Mode::kCommit);
  if (!undone) {
    return fail(why.code, fmt::format("{} [and it could not be taken back: {}]", why.message,
                                      undone.error().message));
  }
  const Status served = wait_exports_served(vnfses, kExportsUndoneMs);
  return fail(why.code, fmt::format("{} [it was taken back{}]", why.message,
                                    served ? "" : ", but " + served.error().message));
}

Result<std::string> ExportsAdmin::users_of_export(const ClusterView& view, const std::string& name,
                                                  const std::set<std::string>& vnfses) {
  const records::ExportRecord& exported = view.exports.at(name).record;
  const auto filesystem = view.filesystems.find(exported.filesystem());
  std::string out;
  for (const std::string& vnfs : vnfses) {
    std::set<std::string> clients;
    const auto record = view.connections.find(vnfs);
    if (record != view.connections.end()) {
      for (const records::ExportClients& one : record->second.record.exports()) {
        if (one.export_id() == exported.export_id())
          clients.insert(one.clients().begin(), one.clients().end());
      }
    }
    SYMNAS_ASSIGN(const auto locks, locks_of(head_.store, view, vnfs));
    std::size_t owners = 0;
    for (const auto& [fs, one] : locks) {
      if (filesystem != view.filesystems.end() && fs.value() == filesystem->second.record.fsid())
        owners += one.keys.size();
    }
    if (clients.empty() && owners == 0) continue;
    out += fmt::format("{}through VNFS {}: {} clients ({}), {} lock owners in its filesystem",
                       out.empty() ? "" : "; ", vnfs, clients.size(), fmt::join(clients, ", "),
                       owners);
  }
  return out;
}

Result<std::string> ExportsAdmin::remove_export(const std::string& name,
                                                const std::vector<std::string>& vnfses,
                                                api::Consent consent, Mode mode) {
  const Planner planner = [&](const ClusterView& now) {
    return vnfses.empty() ? plan_export_remove(now, name) : plan_export_take_off(now, name, vnfses);
  };
  SYMNAS_ASSIGN(const ClusterView now, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const Change change, planner(now));
  SYMNAS_ASSIGN(const std::string users,
                users_of_export(now, name, concerned(now, after(now, change))));
  if (!users.empty() && consent == api::Consent::kNo && mode == Mode::kCommit) {
    return fail(ErrorCode::kBusy,
                fmt::format("export {}: in use {}; these clients would lose it with their locks "
                            "(--yes if that is meant)",
                            name, users));
  }
  auto done = edit_exports(planner, mode);
  if (done && !users.empty()) *done += fmt::format("\nexport {}: was in use {}", name, users);
  return done;
}

}  // namespace symnas::vnfsd::daemon

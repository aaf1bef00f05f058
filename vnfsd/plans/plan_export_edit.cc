#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "vnfsd/names/names.h"
#include "vnfsd/network/net_address.h"
#include "vnfsd/plans/export_options.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/levels.h"
#include "vnfsd/plans/limits.h"
#include "vnfsd/plans/plan_keytab.h"
#include "vnfsd/plans/plans.h"
#include "vnfsd/plans/security.h"

namespace symnas::vnfsd {
namespace {

tl::unexpected<Error> bad(const std::string& name, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("export {}: {}", name, why));
}

std::vector<std::string> vnfses_of(const ClusterView& view, const std::string& exported) {
  std::vector<std::string> out;
  for (const auto& [name, vnfs] : view.vnfses) {
    const auto& exports = vnfs.record.exports();
    if (std::find(exports.begin(), exports.end(), exported) != exports.end()) out.push_back(name);
  }
  return out;
}

bool uses(const ClusterView& view, const records::VnfsRecord& vnfs, const std::string& filesystem) {
  return std::any_of(vnfs.exports().begin(), vnfs.exports().end(), [&](const std::string& name) {
    const auto exported = view.exports.find(name);
    return exported != view.exports.end() && exported->second.record.filesystem() == filesystem;
  });
}

// Notes the filesystems that the present instance has mounted for `former`: it has them mounted to
// its end, whose proof has to cover them. `view`: with the exports of both.
void note_left(const ClusterView& view, const records::VnfsRecord& former,
               records::VnfsRecord& vnfs) {
  const auto owner = view.owners.find(vnfs.name());
  const std::uint64_t epoch = owner == view.owners.end() ? 0 : owner->second.record.epoch();
  vnfs.clear_left();
  const auto note = [&](const std::string& filesystem) {
    const bool known = std::any_of(vnfs.left().begin(), vnfs.left().end(), [&](const auto& left) {
      return left.filesystem() == filesystem;
    });
    if (epoch == 0 || known || uses(view, vnfs, filesystem)) return;
    records::LeftFilesystem& left = *vnfs.add_left();
    left.set_filesystem(filesystem);
    left.set_epoch(epoch);
  };
  for (const records::LeftFilesystem& left : former.left()) {
    if (left.epoch() == epoch) note(left.filesystem());
  }
  for (const std::string& name : former.exports()) {
    const auto exported = view.exports.find(name);
    if (exported != view.exports.end()) note(exported->second.record.filesystem());
  }
}

// The owner's record says which instance it is.
void keep_owner(const ClusterView& view, const std::string& vnfs, Change& change) {
  const auto owner = view.owners.find(vnfs);
  change.txn.compares.push_back(
      kv::mod_revision_is(kv::keys::kOwners + vnfs,
                          owner == view.owners.end() ? Revision{} : owner->second.mod_revision));
}

void put(const records::VnfsRecord& vnfs, Change& change) {
  change.txn.success.push_back(kv::put(kv::keys::kVnfs + vnfs.name(), vnfs.SerializeAsString()));
}

// An instance mounts what lies inside an export together with it, so the outer one comes first and
// goes last. `doing`: what cannot be done to the export while the VNFS serves these.
Status check_nothing_inside(const ClusterView& view, const records::VnfsRecord& vnfs,
                            const records::ExportRecord& outer, std::string_view doing) {
  for (const std::string& name : nested_with(view, vnfs, outer)) {
    if (!nested(view.exports.at(name).record, outer)) continue;
    return fail(ErrorCode::kBusy,
                fmt::format("export {}: VNFS {} serves export {}, which lies inside it: {} (symnas "
                            "export rm {} --vnfs {} first)",
                            outer.name(), vnfs.name(), name, doing, name, vnfs.name()));
  }
  return {};
}

Status take_off(const ClusterView& view, const std::string& name,
                const std::vector<std::string>& vnfses, Change& change) {
  for (const std::string& vnfs_name : vnfses) {
    SYMNAS_ASSIGN(const auto* vnfs, find(view.vnfses, "vnfs", vnfs_name));
    records::VnfsRecord record = vnfs->record;
    auto& exports = *record.mutable_exports();
    const auto it = std::find(exports.begin(), exports.end(), name);
    if (it == exports.end()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("export {}: VNFS {} does not serve it", name, vnfs_name));
    }
    SYMNAS_ASSIGN(const auto* exported, find(view.exports, "export", name));
    SYMNAS_TRY(check_nothing_inside(view, vnfs->record, exported->record, "it would go along"));
    exports.erase(it);
    if (exports.empty()) {
      return fail(ErrorCode::kBusy,
                  fmt::format("export {}: the only one of VNFS {} (symnas export add another one, "
                              "or symnas vnfs stop {} and rm {})",
                              name, vnfs_name, vnfs_name, vnfs_name));
    }
    note_left(view, vnfs->record, record);
    keep_owner(view, vnfs_name, change);
    put(record, change);
  }
  return {};
}

// Whether whoever serves it can open what the new export needs.
Status check_owner_sees(const ClusterView& then, const std::string& vnfs) {
  const auto owner = then.owners.find(vnfs);
  if (owner == then.owners.end()) return {};
  const std::string& head = owner->second.record.head();
  if (!then.heads.contains(head) || reaches_all_of(then, vnfs, head)) return {};
  return fail(
      ErrorCode::kBusy,
      fmt::format("vnfs {}: its head {} has not all LUNs open that the export needs (symnas "
                  "status there)",
                  vnfs, head));
}

Status undo_keytab(const ClusterView& view, const ClusterView& before, const ClusterView& made,
                   const std::string& vnfs, Change& undo) {
  // Another head may have sealed it anew meanwhile: it is the same one.
  const auto set_ns = [&](const ClusterView& one) -> std::optional<std::int64_t> {
    const auto found = one.keytabs.find(vnfs);
    if (found == one.keytabs.end()) return std::nullopt;
    return found->second.record.set_ns();
  };
  if (set_ns(view) != set_ns(made)) {
    return fail(ErrorCode::kConflict,
                fmt::format("vnfs {}: somebody else has changed its keytab meanwhile", vnfs));
  }
  const std::string key = kv::keys::kKeytabs + vnfs;
  const auto former = before.keytabs.find(vnfs);
  undo.txn.success.push_back(former == before.keytabs.end()
                                 ? kv::erase(key)
                                 : kv::put(key, former->second.record.SerializeAsString()));
  undo.what +=
      fmt::format("{}vnfs {}: its keytab is as it was before", undo.what.empty() ? "" : "\n", vnfs);
  return {};
}

}  // namespace

Result<Change> plan_export_set(const ClusterView& view, const ExportEdit& edit) {
  SYMNAS_ASSIGN(const auto* exported, find(view.exports, "export", edit.name));
  if (!changes_anything(edit)) {
    return bad(edit.name,
               "nothing to change was given (--clients, --client, --access, --squash, --anon, "
               "--manage-gids, --pseudo, --sec)");
  }
  records::ExportRecord record = exported->record;
  SYMNAS_TRY(set_export_options(edit, record));
  SYMNAS_TRY(check_export_level(view, record));
  Change change{fmt::format("export {}: as {}, {}", edit.name, pseudo_of(record), rules_of(record)),
                {}};
  change.txn.success.push_back(kv::put(kv::keys::kExports + edit.name, record.SerializeAsString()));
  const ClusterView then = after(view, change);
  const bool is_kerberos_new = needs_kerberos(record) && !needs_kerberos(exported->record);
  for (const std::string& vnfs : vnfses_of(view, edit.name)) {
    if (is_kerberos_new) SYMNAS_TRY(check_has_keytab(view, vnfs, edit.name));
    const records::VnfsRecord& serving = then.vnfses.at(vnfs).record;
    SYMNAS_TRY(check_pseudo_paths(then, serving));
    if (pseudo_of(record) == pseudo_of(exported->record)) continue;
    const std::string_view doing = "its path cannot change";
    SYMNAS_TRY(check_nothing_inside(view, serving, exported->record, doing));
    SYMNAS_TRY(check_nothing_inside(then, serving, record, doing));
  }
  return change;
}

Result<Change> plan_export_add(const ClusterView& view, const std::string& name,
                               const std::vector<std::string>& vnfses) {
  SYMNAS_ASSIGN(const auto* exported, find(view.exports, "export", name));
  if (vnfses.empty()) return bad(name, "no VNFS given (--vnfs)");
  Change change;
  for (const std::string& vnfs_name : vnfses) {
    SYMNAS_ASSIGN(const auto* vnfs, find(view.vnfses, "vnfs", vnfs_name));
    records::VnfsRecord record = vnfs->record;
    auto& exports = *record.mutable_exports();
    if (std::find(exports.begin(), exports.end(), name) != exports.end()) {
      return fail(ErrorCode::kAlreadyExists,
                  fmt::format("export {}: VNFS {} serves it already", name, vnfs_name));
    }
    if (static_cast<std::size_t>(exports.size()) >= kExportsPerVnfsMax) {
      return bad(name, fmt::format("VNFS {} has {} exports", vnfs_name, kExportsPerVnfsMax));
    }
    SYMNAS_TRY(check_nothing_inside(view, vnfs->record, exported->record, "it would be hidden"));
    if (needs_kerberos(exported->record)) SYMNAS_TRY(check_has_keytab(view, vnfs_name, name));
    exports.Add(std::string(name));
    note_left(view, vnfs->record, record);
    keep_owner(view, vnfs_name, change);
    put(record, change);
    change.what +=
        fmt::format("{}export {}: served by VNFS {} as {}", change.what.empty() ? "" : "\n", name,
                    vnfs_name, pseudo_of(exported->record));
  }
  const ClusterView then = after(view, change);
  for (const std::string& vnfs : vnfses) {
    SYMNAS_TRY(check_pseudo_paths(then, then.vnfses.at(vnfs).record));
    SYMNAS_TRY(check_owner_sees(then, vnfs));
  }
  return change;
}

Result<Change> plan_export_take_off(const ClusterView& view, const std::string& name,
                                    const std::vector<std::string>& vnfses) {
  SYMNAS_TRY(find(view.exports, "export", name));
  if (vnfses.empty()) return bad(name, "no VNFS given (--vnfs)");
  Change change{
      fmt::format("export {}: not served by VNFS {} any more", name, fmt::join(vnfses, ", ")), {}};
  SYMNAS_TRY(take_off(view, name, vnfses, change));
  return change;
}

Result<Change> plan_export_remove(const ClusterView& view, const std::string& name) {
  SYMNAS_TRY(find(view.exports, "export", name));
  Change change{fmt::format("export {}: removed", name), {}};
  SYMNAS_TRY(take_off(view, name, vnfses_of(view, name), change));
  change.txn.success.push_back(kv::erase(kv::keys::kExports + name));
  return change;
}

Result<Change> plan_exports_undone(const ClusterView& view, const ClusterView& before,
                                   const Change& change) {
  const ClusterView made = after(before, change);
  Change undo;
  const auto conflict = [](std::string_view what, const std::string& name) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} {}: somebody else has changed it meanwhile", what, name));
  };
  ClusterView both = view;  // with exports that were removed
  for (const auto& [name, exported] : before.exports) both.exports.try_emplace(name, exported);
  for (const kv::Op& op : change.txn.success) {
    const std::string& key = op.range.key;
    if (key.starts_with(kv::keys::kExports)) {
      const std::string name = key.substr(kv::keys::kExports.size());
      const auto now = view.exports.find(name);
      const auto then = made.exports.find(name);
      const bool same = now == view.exports.end() ? then == made.exports.end()
                                                  : then != made.exports.end() &&
                                                        now->second.record.SerializeAsString() ==
                                                            then->second.record.SerializeAsString();
      if (!same) return conflict("export", name);
      undo.txn.success.push_back(kv::put(key, before.exports.at(name).record.SerializeAsString()));
      undo.what +=
          fmt::format("{}export {}: is as it was before", undo.what.empty() ? "" : "\n", name);
    } else if (key.starts_with(kv::keys::kKeytabs)) {
      SYMNAS_TRY(undo_keytab(view, before, made, key.substr(kv::keys::kKeytabs.size()), undo));
    } else if (key.starts_with(kv::keys::kVnfs)) {
      const std::string name = key.substr(kv::keys::kVnfs.size());
      const auto now = view.vnfses.find(name);
      if (now == view.vnfses.end()) return conflict("vnfs", name);
      const auto& exports = now->second.record.exports();
      const auto& then = made.vnfses.at(name).record.exports();
      if (!std::equal(exports.begin(), exports.end(), then.begin(), then.end()))
        return conflict("vnfs", name);
      records::VnfsRecord record = now->second.record;
      *record.mutable_exports() = before.vnfses.at(name).record.exports();
      note_left(both, now->second.record, record);
      keep_owner(view, name, undo);
      put(record, undo);
      undo.what += fmt::format("{}vnfs {}: its exports are as they were before",
                               undo.what.empty() ? "" : "\n", name);
    }
  }
  // Somebody may have given the old path to another one meanwhile.
  const ClusterView then = after(view, undo);
  for (const auto& [name, vnfs] : then.vnfses) {
    const auto hidden = check_pseudo_paths(then, vnfs.record);
    if (!hidden) return fail(ErrorCode::kConflict, hidden.error().message);
  }
  return undo;
}

}  // namespace symnas::vnfsd

#include "vnfsd/plans/plan_keytab.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "vnfsd/plans/keytab.h"
#include "vnfsd/plans/levels.h"
#include "vnfsd/plans/security.h"
#include "vnfsd/records/levels.h"

namespace symnas::vnfsd {
namespace {

std::string keys_text(const records::KeytabRecord& keytab) {
  std::string text;
  for (const records::KeytabKey& key : keytab.keys()) {
    text += fmt::format("{}{} kvno {} {}", text.empty() ? "" : ", ", key.principal(), key.kvno(),
                        enctype_name(static_cast<std::uint16_t>(key.enctype())));
  }
  return text;
}

}  // namespace

std::string keytab_subject(const ClusterView& view, const std::string& vnfs) {
  return fmt::format("keytab {} {}", vnfs, view.cluster.record.uuid());
}

std::map<std::string, std::string> seal_keys(const ClusterView& view) {
  std::map<std::string, std::string> keys;
  for (const auto& [name, head] : view.heads) {
    if (!head.record.seal_key().empty()) keys[name] = head.record.seal_key();
  }
  return keys;
}

Result<Change> plan_keytab_set(const ClusterView& view, const std::string& vnfs,
                               const records::KeytabRecord& sealed) {
  SYMNAS_TRY(find(view.vnfses, "vnfs", vnfs));
  SYMNAS_TRY(needs_level(view, level::kKerberos, fmt::format("vnfs {}: a keytab", vnfs)));
  Change change{fmt::format("vnfs {}: its keytab has {}", vnfs, keys_text(sealed)), {}};
  change.txn.success.push_back(kv::put(kv::keys::kKeytabs + vnfs, sealed.SerializeAsString()));
  return change;
}

Result<Change> plan_keytab_remove(const ClusterView& view, const std::string& vnfs) {
  SYMNAS_ASSIGN(const auto* stored, find(view.vnfses, "vnfs", vnfs));
  if (!view.keytabs.contains(vnfs)) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("vnfs {}: has no keytab (symnas vnfs keytab set {} --file F)", vnfs, vnfs));
  }
  if (const std::string name = needing_kerberos(view, stored->record); !name.empty()) {
    return fail(ErrorCode::kBusy,
                fmt::format("vnfs {}: clients of export {} have to use Kerberos (symnas export set "
                            "{} --sec sys, or set another keytab)",
                            vnfs, name, name));
  }
  Change change{fmt::format("vnfs {}: its keytab is removed", vnfs), {}};
  change.txn.success.push_back(kv::erase(kv::keys::kKeytabs + vnfs));
  return change;
}

std::string needing_kerberos(const ClusterView& view, const records::VnfsRecord& vnfs) {
  for (const std::string& name : vnfs.exports()) {
    const auto exported = view.exports.find(name);
    if (exported != view.exports.end() && needs_kerberos(exported->second.record)) return name;
  }
  return "";
}

Status check_has_keytab(const ClusterView& view, const std::string& vnfs,
                        const std::string& exported) {
  if (view.keytabs.contains(vnfs)) return {};
  return fail(
      ErrorCode::kBusy,
      fmt::format("export {}: clients would have to use Kerberos, and VNFS {} has no keytab "
                  "(symnas vnfs keytab set {} --file F first, or let sys be among --sec)",
                  exported, vnfs, vnfs));
}

std::string owner_domain_of(const records::KeytabRecord& keytab) {
  if (!keytab.owner_domain().empty() || keytab.keys().empty()) return keytab.owner_domain();
  return lower_case(realm_of(keytab.keys(0).principal()));
}

bool can_open(const ClusterView& view, const records::KeytabRecord& keytab,
              const std::string& head) {
  const auto there = view.heads.find(head);
  const auto sealed_for = keytab.wrapped_for().find(head);
  return there != view.heads.end() && sealed_for != keytab.wrapped_for().end() &&
         keytab.wraps().contains(head) && sealed_for->second == there->second.record.seal_key();
}

std::vector<std::string> newly_sealed_for(const records::KeytabRecord& keytab,
                                          const records::KeytabRecord& former) {
  std::vector<std::string> heads;
  for (const auto& [head, wrap] : keytab.wraps()) {
    const auto before = former.wrapped_for().find(head);
    if (before == former.wrapped_for().end() || before->second != keytab.wrapped_for().at(head))
      heads.push_back(head);
  }
  std::sort(heads.begin(), heads.end());
  return heads;
}

bool needs_rewrap(const ClusterView& view, const records::KeytabRecord& keytab) {
  const auto& there = keytab.wrapped_for();
  return seal_keys(view) != std::map<std::string, std::string>(there.begin(), there.end());
}

}  // namespace symnas::vnfsd

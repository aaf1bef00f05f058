#include "vnfsd/plans/admission.h"

#include <fmt/core.h>

#include "common/kv/admin_keys.h"

namespace symnas::vnfsd {

bool is_admitted(const ClusterView& view, const std::string& head, const std::string& admission) {
  const auto known = view.admissions.find(head);
  if (known == view.admissions.end()) return !view.removed.contains(head);
  return known->second.record.id() == admission;
}

Result<Change> plan_head_admit(const std::string& head, const std::string& admission,
                               std::int64_t now_ns) {
  records::AdmissionRecord record;
  record.set_id(admission);
  record.set_invited_ns(now_ns);
  Change change{fmt::format("head {}: may join with its new bundle only", head), {}};
  change.txn.success.push_back(kv::put(kv::keys::kAdmissions + head, record.SerializeAsString()));
  return change;
}

kv::Compare admitted_as_seen(const ClusterView& view, const std::string& head) {
  const auto known = view.admissions.find(head);
  return kv::mod_revision_is(kv::keys::kAdmissions + head, known == view.admissions.end()
                                                               ? Revision{}
                                                               : known->second.mod_revision);
}

Status check_not_removed(const ClusterView& view, const HeadBoot& boot) {
  const std::string& name = boot.head;
  if (!is_admitted(view, name, boot.admission)) {
    const bool replaced = !view.removed.contains(name);
    return fail(ErrorCode::kForeign,
                fmt::format("head {}: {}, it can do nothing for the cluster any more (stop vnfsd "
                            "and reboot this head: its kernel may still hold requests for the "
                            "LUNs; symnas head invite {} on another head lets one of this name "
                            "join)",
                            name,
                            replaced ? "another machine was invited under this name"
                                     : "was removed from the cluster",
                            name));
  }
  const auto fenced = view.fenced_boots.find(boot.incarnation);
  if (fenced == view.fenced_boots.end()) return {};
  return fail(ErrorCode::kForeign,
              fmt::format("head {}: this boot of the machine was fenced as head {}, which was "
                          "removed from the cluster then (reboot it: the next boot may join)",
                          name, fenced->second.record.head()));
}

void compare_admission(const ClusterView& view, const HeadBoot& boot, kv::Txn& txn) {
  const auto removed = view.removed.find(boot.head);
  txn.compares.push_back(admitted_as_seen(view, boot.head));
  txn.compares.push_back(kv::mod_revision_is(
      kv::keys::kRemoved + boot.head,
      removed == view.removed.end() ? Revision{} : removed->second.mod_revision));
  txn.compares.push_back(kv::key_absent(kv::keys::kFencedBoots + boot.incarnation));
}

}  // namespace symnas::vnfsd

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

}  // namespace symnas::vnfsd

#include "vnfsd/daemon/head/this_head.h"

namespace symnas::vnfsd::daemon {

HeadBoot ThisHead::boot() const { return {config.head_name, incarnation, config.admission}; }

Status ThisHead::check_not_removed(const ClusterView& view) const {
  return vnfsd::check_not_removed(view, boot());
}

void ThisHead::compare_admission(const ClusterView& view, kv::Txn& txn) const {
  vnfsd::compare_admission(view, boot(), txn);
}

}  // namespace symnas::vnfsd::daemon

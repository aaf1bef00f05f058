// Administration: the API's backends, one for each subject. Thread-safe.
#pragma once

#include <functional>

#include "common/kv/membership.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/admin/deciders_admin.h"
#include "vnfsd/daemon/admin/exports_admin.h"
#include "vnfsd/daemon/admin/heads_admin.h"
#include "vnfsd/daemon/admin/inspection_admin.h"
#include "vnfsd/daemon/admin/keytab_admin.h"
#include "vnfsd/daemon/admin/load_admin.h"
#include "vnfsd/daemon/admin/locks_admin.h"
#include "vnfsd/daemon/admin/members_admin.h"
#include "vnfsd/daemon/admin/quotas_admin.h"
#include "vnfsd/daemon/admin/records_admin.h"
#include "vnfsd/daemon/admin/repair_admin.h"
#include "vnfsd/daemon/admin/scrub_admin.h"
#include "vnfsd/daemon/admin/status_admin.h"
#include "vnfsd/daemon/admin/storage_admin.h"
#include "vnfsd/daemon/admin/vnfs_admin.h"

namespace symnas::vnfsd::daemon {

// The parts of the agent that Administration uses, beside those that StatusAdmin shows.
struct AdministrationParts {
  StatusParts status;
  EventWriter& events;
  Fencing& fencing;
  LoadWatcher& load;
  std::function<void()> luns_found;  // as `found` of LunKeeper::look()
  WhoHas who_has;
  kv::Membership* membership;  // null: etcd's members are left alone
};

class Administration {
 public:
  explicit Administration(const AdministrationParts& parts);

  // Valid as long as this object lives.
  api::Backends backends();

 private:
  RecordsAdmin records_;
  VnfsAdmin vnfs_;
  DecidersAdmin deciders_;
  ExportsAdmin exports_;
  KeytabAdmin keytabs_;
  StorageAdmin storage_;
  MembersAdmin members_;
  HeadsAdmin heads_;
  InspectionAdmin inspection_;
  RepairAdmin repair_;
  ScrubAdmin scrub_;
  LocksAdmin locks_;
  QuotasAdmin quotas_;
  StatusAdmin status_;
  LoadAdmin load_;
};

}  // namespace symnas::vnfsd::daemon

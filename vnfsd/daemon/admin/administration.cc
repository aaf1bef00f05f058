#include "vnfsd/daemon/admin/administration.h"

namespace symnas::vnfsd::daemon {

Administration::Administration(const AdministrationParts& parts)
    : records_(parts.status.head, parts.status.reader, parts.events),
      vnfs_(parts.status.head, parts.status.reader, parts.events, parts.who_has),
      deciders_({parts.status.head, parts.status.reader, parts.events, parts.fencing,
                 parts.status.heads, parts.status.instances}),
      exports_(parts.status.head, parts.status.reader, parts.events),
      keytabs_(parts.status.head, parts.status.reader, exports_),
      storage_(parts.status.head, parts.status.reader, parts.events, parts.status.luns,
               parts.luns_found),
      members_(parts.status.head, parts.membership),
      heads_(parts.status.head, parts.status.reader, parts.events, parts.fencing, members_),
      inspection_(parts.status.head, parts.status.reader, parts.status.luns.open_luns(),
                  parts.status.instances),
      repair_(parts.status.head, parts.status.reader, parts.events),
      scrub_(parts.status.head, parts.status.reader),
      locks_(parts.status.head, parts.status.reader),
      quotas_(parts.status.head, parts.status.reader),
      status_(parts.status),
      load_(parts.status.reader, parts.load) {}

api::Backends Administration::backends() {
  return {records_, vnfs_,    deciders_, exports_, keytabs_,    storage_,
          storage_, storage_, heads_,    members_, inspection_, repair_,
          scrub_,   locks_,   quotas_,   status_,  load_};
}

}  // namespace symnas::vnfsd::daemon

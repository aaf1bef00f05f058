#include "vnfsd/daemon/admin/administration.h"

namespace symnas::vnfsd::daemon {

Administration::Administration(const AdministrationParts& parts)
    : records_(parts.status.head, parts.status.reader, parts.events),
      vnfs_(parts.status.head, parts.status.reader, parts.events, parts.who_has),
      deciders_({parts.status.head, parts.status.reader, parts.events, parts.fencing,
                 parts.status.heads, parts.status.instances}),
      exports_(parts.status.head, parts.status.reader, parts.events),
      storage_(parts.status.head, parts.status.reader, parts.events, parts.status.luns,
               parts.luns_found),
      members_(parts.status.head, parts.membership),
      heads_(parts.status.head, parts.status.reader, parts.events, parts.fencing, members_),
      inspection_(parts.status.head, parts.status.reader, parts.status.luns.open_luns(),
                  parts.status.instances),
      locks_(parts.status.head, parts.status.reader),
      status_(parts.status),
      load_(parts.status.reader, parts.load) {}

api::Backends Administration::backends() {
  return {records_, vnfs_,    deciders_,   exports_, storage_, storage_, storage_,
          heads_,   members_, inspection_, locks_,   status_,  load_};
}

}  // namespace symnas::vnfsd::daemon

#include "vnfsd/daemon/follow/cluster_reader.h"

#include "vnfsd/daemon/head/limits.h"

namespace symnas::vnfsd::daemon {

Result<ClusterView> read_when_ready(const ThisHead& head, ClusterReader& reader) {
  SYMNAS_TRY(reader.wait_ready());
  return read_view(head.store, kStoreDeadlineMs);
}

}  // namespace symnas::vnfsd::daemon

#include "vnfsd/daemon/admin/records_admin.h"

#include "vnfsd/daemon/journal/commit.h"

namespace symnas::vnfsd::daemon {

Result<ClusterView> RecordsAdmin::view() { return read_when_ready(head_, reader_); }

Result<std::string> RecordsAdmin::change(const Planner& planner, Mode mode) {
  SYMNAS_TRY(reader_.wait_ready());
  return commit(head_, events_, planner, mode);
}

}  // namespace symnas::vnfsd::daemon

#include "vnfsd/daemon/admin/load_admin.h"

#include <nlohmann/json.hpp>

#include "vnfsd/api/load.h"

namespace symnas::vnfsd::daemon {

Result<nlohmann::json> LoadAdmin::load() {
  auto view = reader_.seen();
  if (view) return api::load_document(*view, load_.told(*view));
  // This head's own load is known without etcd.
  const ClusterView none;
  api::ClusterLoad load = load_.told(none);
  load.silent[""] = view.error().message;
  return api::load_document(none, load);
}

}  // namespace symnas::vnfsd::daemon

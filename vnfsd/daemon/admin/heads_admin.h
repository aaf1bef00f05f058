// HeadsAdmin: invites, fences and removes heads. Thread-safe.
#pragma once

#include <string>

#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/admin/members_admin.h"
#include "vnfsd/daemon/fencing/fencing.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"

namespace symnas::vnfsd::daemon {

class HeadsAdmin final : public api::HeadsBackend {
 public:
  HeadsAdmin(const ThisHead& head, ClusterReader& reader, EventWriter& events, Fencing& fencing,
             MembersAdmin& members)
      : head_(head), reader_(reader), events_(events), fencing_(fencing), members_(members) {}

  Result<nlohmann::json> invite_head(const std::string& name, const std::string& address,
                                     api::EtcdRole role, Mode mode) override;
  Result<std::string> fence_head(const std::string& name, Mode mode, Progress& progress) override;
  Result<std::string> remove_head(const std::string& name, api::Consent consent,
                                  Mode mode) override;

 private:
  const ThisHead& head_;
  ClusterReader& reader_;
  EventWriter& events_;
  Fencing& fencing_;
  MembersAdmin& members_;
};

}  // namespace symnas::vnfsd::daemon

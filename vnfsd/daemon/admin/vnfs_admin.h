// VnfsAdmin: makes changes of VNFSs. No VNFS gets a VIP for which somebody on the network answers.
// A change that clients notice says how many clients there are. Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "vnfsd/address/holders.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"

namespace symnas::vnfsd::daemon {

// Finds out who answers for addresses on the network of a device of this head (vnfsd/address).
// Empty: nobody is asked.
using WhoHas = std::function<Result<std::vector<address::Holder>>(
    const std::string& device, const std::vector<IpAddress>& addresses)>;

class VnfsAdmin final : public api::VnfsBackend {
 public:
  VnfsAdmin(const ThisHead& head, ClusterReader& reader, EventWriter& events, WhoHas who_has)
      : head_(head), reader_(reader), events_(events), who_has_(std::move(who_has)) {}

  Result<std::string> create_vnfs(const VnfsRequest& request, Mode mode) override;
  Result<std::string> create_vnfs_set(const VnfsSetRequest& request, Mode mode) override;
  Result<std::string> remove_vnfs(const std::string& name, api::Consent consent,
                                  Mode mode) override;
  Result<std::string> rehost_vnfs(const std::string& name, const std::string& head, Pin pin,
                                  Mode mode) override;
  Result<nlohmann::json> vnfs_history(const std::string& name) override;

 private:
  // Makes a change that gives addresses to VNFSs, if nobody else answers for these addresses.
  Result<std::string> change_with_vips(const Planner& planner, Mode mode);
  Status check_vips_free(const ClusterView& before, const Change& change) const;

  const ThisHead& head_;
  ClusterReader& reader_;
  EventWriter& events_;
  const WhoHas who_has_;
};

}  // namespace symnas::vnfsd::daemon

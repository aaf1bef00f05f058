// Ownership: claims, local fences and releases of VNFSs, for the supervisors of this head. Every
// step is one transaction with compares, planned from what the watch has shown or from a reading.
// Thread-safe: it has no state.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/daemon/journal/history_writer.h"
#include "vnfsd/daemon/luns/luns.h"
#include "vnfsd/daemon/luns/registrations.h"
#include "vnfsd/instance/supervisor.h"

namespace symnas::vnfsd::daemon {

// The parts of the agent that Ownership uses.
struct OwnershipParts {
  const ThisHead& head;
  ClusterReader& reader;
  EventWriter& events;
  HistoryWriter& history;
  const LunSet& luns;
  const Registrations& registrations;
};

class Ownership final : public instance::Host {
 public:
  explicit Ownership(const OwnershipParts& parts);

  // Erases the order by which the VNFS has come to this head. Errors: kConflict, those of the
  // store.
  Status end_move(const std::string& vnfs);

  // --- instance::Host
  Result<instance::InstancePlan> prepare(const std::string& vnfs) override;
  void prepared(const std::string& vnfs) override;
  Result<instance::InstancePlan> claim(const std::string& vnfs,
                                       std::optional<Epoch> prepared) override;
  Result<instance::InstancePlan> plan_of(const std::string& vnfs,
                                         const instance::InstanceState& state) override;
  Status fence(const std::string& vnfs) override;
  Status release(const std::string& vnfs, const instance::Farewell& farewell) override;
  void ended(const std::string& vnfs, Epoch epoch, const std::string& how) override;
  void vips_taken(const std::string& vnfs, const std::string& by_whom) override;
  Result<std::vector<std::pair<std::string, Epoch>>> earlier(const std::string& vnfs) override;
  Result<std::optional<Revision>> tells_exports(const instance::InstancePlan& plan) override;
  Status exports_told(const instance::InstancePlan& plan, Revision telling,
                      const Status& taken) override;
  Status served(const std::string& vnfs, const instance::Arrival& arrival) override;

 private:
  Result<instance::InstancePlan> claim_from(const ClusterView& view, const std::string& vnfs,
                                            std::optional<Epoch> prepared);
  // Errors: kCorrupt, kIo (state.json does not tell any more what the instance has opened).
  Result<std::vector<instance::LunIdentity>> opened_luns(const std::string& vnfs) const;
  Status release_of(const ClusterView& view, const std::string& vnfs,
                    const instance::Farewell& farewell);
  Status end_move_of(const ClusterView& view, const std::string& vnfs);
  // Returns the record's revision. Errors: kConflict, those of the store.
  Result<Revision> put_served(const instance::InstancePlan& plan, Revision before,
                              const records::ServedRecord& record);

  const ThisHead& head_;
  ClusterReader& reader_;
  EventWriter& events_;
  HistoryWriter& history_;
  const LunSet& luns_;
  const Registrations& registrations_;
};

}  // namespace symnas::vnfsd::daemon

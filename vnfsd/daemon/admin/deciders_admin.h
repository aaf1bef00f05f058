// DecidersAdmin: carries out what pacemaker or keepalived order for this head
// (vnfsd/plans/deciders.h). Whoever takes a VNFS from a head that is not heard has that head
// fenced: nobody serves before its end is proved (INV-8). Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/base/thread_annotations.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/detection/head_watcher.h"
#include "vnfsd/daemon/fencing/fence_orders.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/daemon/journal/event_writer.h"

namespace symnas::vnfsd::daemon {

// The parts of the agent that DecidersAdmin uses.
struct DecidersParts {
  const ThisHead& head;
  ClusterReader& reader;
  EventWriter& events;
  FenceOrders& fences;
  const HeadWatcher& heads;
  const Instances& instances;
};

class DecidersAdmin final : public api::DecidersBackend {
 public:
  explicit DecidersAdmin(const DecidersParts& parts) : parts_(parts) {}

  Result<std::string> take(const DeciderOrder& order, Mode mode) override;
  Result<std::string> leave(const DeciderOrder& order, Mode mode) override;
  Result<nlohmann::json> standing(const std::string& vnfs, const std::string& head) override;

 private:
  // The head that has to be fenced before the order can be carried out, and why. nullopt: there is
  // none. Errors: kPermission, kUnavailable (this head cannot fence it, or may not unasked).
  using Victim = std::pair<std::string, FenceCause>;
  Result<std::optional<Victim>> victim_of(const DeciderOrder& order);
  // Errors: kBusy (another head was told to take it less than kDecidedNs ago, and has not yet).
  Status check_not_just_decided(const ClusterView& view, const DeciderOrder& order);

  const DecidersParts parts_;
  // What was decided, and since when this head knows it (monotonic): clocks of two heads differ.
  struct Decided {
    std::string head;
    std::int64_t since_ns = 0;
  };
  Mutex mutex_;                                                // leaf
  std::map<std::string, Decided> decided_ GUARDED_BY(mutex_);  // by VNFS
};

}  // namespace symnas::vnfsd::daemon

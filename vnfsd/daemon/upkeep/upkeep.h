// Upkeep: keeps etcd fit: discards history, judges the quota, promotes members that have caught up.
// Also checks whether the fence agent works, and writes the events that wait. Thread class: works
// on a loop of its own; wake() is thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/kv/membership.h"
#include "common/kv/quota.h"
#include "vnfsd/daemon/fencing/fence_agent_check.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/daemon/upkeep/compaction.h"

namespace symnas::vnfsd::daemon {

// The parts of the agent that Upkeep uses.
struct UpkeepParts {
  const ThisHead& head;
  ClusterReader& reader;
  EventWriter& events;
  kv::QuotaGauge& quota;  // only Upkeep calls its look()
  FenceMeans& means;
  kv::Membership* membership;  // null: etcd's members are left alone
  // Called when etcd's members are others than the configuration says, repeatedly until that ends.
  // Empty: nobody is told.
  std::function<void(const std::vector<std::string>& endpoints)> endpoints_changed;
};

class Upkeep {
 public:
  Upkeep(const UpkeepParts& parts, std::stop_token end);

  void start();
  // There are events to be written.
  void wake() { loop_.wake(); }
  // Waits for the loop. REQUIRES: the end was asked for.
  void join() { loop_.join(); }
  // One turn of the loop. REQUIRES: it was not started.
  void look();

  // Why the fence agent could not work; "": it could, or nobody knows. Thread-safe.
  std::string fence_agent_error() const { return agent_check_.error(); }

 private:
  void write_events();
  void look_at_quota();
  void look_at_members();
  void discard_history(std::int64_t now_ms, Compaction& compaction);

  const UpkeepParts parts_;
  const ThisHead& head_;
  const std::int64_t look_ms_;
  Compaction usual_;
  Compaction tight_;
  FenceAgentCheck agent_check_;
  std::int64_t next_ms_ = 0;
  std::int64_t looked_ms_ = 0;
  std::int64_t members_ms_ = 0;
  Loop loop_;  // last
};

}  // namespace symnas::vnfsd::daemon

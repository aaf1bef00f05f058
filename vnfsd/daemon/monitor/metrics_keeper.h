// MetricsKeeper: gathers what the components of the agent have seen, every kPageMs, and writes it
// as the page of metrics that symnas-metrics serves. Thread class: works on a loop of its own;
// text() is thread-safe and waits for nothing.
//
// Invariant: a turn asks no other process and no store, only the components; where one of them
// waits for a disk the page becomes old, and says so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/kv/quota.h"
#include "vnfsd/daemon/detection/head_watcher.h"
#include "vnfsd/daemon/fencing/fence_means.h"
#include "vnfsd/daemon/fencing/stall_watcher.h"
#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/daemon/journal/journal.h"
#include "vnfsd/daemon/luns/lun_keeper.h"
#include "vnfsd/daemon/monitor/etcd_canary.h"
#include "vnfsd/daemon/monitor/instance_reader.h"
#include "vnfsd/daemon/upkeep/upkeep.h"
#include "vnfsd/metrics/sights.h"

namespace symnas::vnfsd::daemon {

// The parts of the agent that MetricsKeeper shows.
struct MetricsParts {
  const ThisHead& head;
  ClusterReader& reader;
  const Journal& journal;
  LunKeeper& luns;
  const Instances& instances;
  const FenceMeans& means;
  const HeadWatcher& heads;
  const StallWatcher& stalls;
  const Upkeep& upkeep;
};

class MetricsKeeper {
 public:
  MetricsKeeper(const MetricsParts& parts, InstanceReader::Ask ask, std::stop_token end);

  void start();
  // Waits for the loops. REQUIRES: the end was asked for.
  void join();
  // One turn of the loop. REQUIRES: it was not started.
  void look();

  // The last page, with its age; before the first one the age alone.
  std::string text() const;

 private:
  metrics::Sights gather();
  metrics::AgentSight agent();
  metrics::HeadsSight heads() const;
  std::vector<metrics::ArrivalsSight> arrivals(const std::optional<ClusterView>& view) const;
  std::map<std::string, metrics::InstanceSight> instances() const;
  std::map<std::string, metrics::LunReport> luns() const;
  metrics::FencingSight fencing() const;
  void read_certificates();
  void write(const std::string& text);

  const MetricsParts parts_;
  const ThisHead& head_;
  const std::string directory_;
  const double started_s_;
  EtcdCanary etcd_;
  InstanceReader instance_reader_;
  // Used by the loop only.
  std::map<std::string, double> certificates_;  // end, by file
  std::map<std::string, double> api_certificates_;
  std::int64_t certificates_ms_ = -1;  // when they were read; -1: not yet
  std::string failure_;                // why the page was not written; "": it was

  mutable Mutex mutex_;  // leaf
  std::string page_ GUARDED_BY(mutex_);
  std::int64_t page_ns_ GUARDED_BY(mutex_);  // monotonic; of the start at first
  Loop loop_;                                // last
};

// The directory of the page.
std::string page_directory(const Config& config);

}  // namespace symnas::vnfsd::daemon

// Sights: what a vnfsd has seen last, as values: everything that its page of metrics is made of.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/histogram.h"
#include "common/kv/store.h"
#include "fsal_cluster/load/load_report.h"
#include "vnfsd/metrics/page.h"
#include "vnfsd/records/cluster_view.h"
#include "vnfsd/records/instance_standing.h"

namespace symnas::vnfsd::metrics {

// This process, as proc(5) has it.
struct ProcessSight {
  double cpu_s = 0;
  std::int64_t resident_bytes = 0;
  std::int64_t open_fds = 0;
  std::int64_t max_fds = 0;
  std::int64_t threads = 0;
  double started_s = 0;  // since 1970
};

struct AgentSight {
  std::string head;
  std::string version;
  std::uint32_t level = 0;
  double started_s = 0;                         // since 1970
  double now_s = 0;                             // the same
  std::map<std::string, std::uint64_t> events;  // by kind
  std::map<std::string, double> certificates;   // end, since 1970, by file
  std::optional<ProcessSight> process;
  std::map<std::string, double> api_certificates;  // as certificates: of the API over the network
};

struct HeadsSight {
  std::optional<ClusterView> view;               // nullopt: the records are not followed now
  std::set<std::string> silent;                  // heads that are not heard
  std::map<std::string, double> clocks_s;        // by head: ahead of the median
  std::optional<bool> corosync_up;               // nullopt: corosync is not asked
  std::map<std::string, bool> corosync_members;  // by head
};

struct InstanceSight {
  InstanceStanding standing = InstanceStanding::kFencing;
  double since_s = 0;  // since 1970
  std::uint64_t restarts = 0;
  bool problem = false;
  std::optional<double> gate_margin_s;  // nullopt: it runs not, or has mounted nothing
  // What it has counted since it began.
  struct Numbers {
    std::uint64_t gate_closings = 0;
    std::int64_t tokens_held = 0;
    std::uint64_t tokens_granted = 0;
    std::uint64_t token_waits = 0;
    std::uint64_t tokens_given_back = 0;
    std::uint64_t quota_refusals = 0;
    std::int64_t lock_ranges = 0;
    TimeCounts etcd;
    std::uint64_t etcd_failures = 0;
  };
  // What it said of itself; nullopt: nothing yet.
  struct Said {
    double age_s = 0;
    std::uint64_t resident_bytes = 0;
    std::uint64_t cached_inodes = 0;
    std::optional<Numbers> numbers;      // nullopt: it is of a version that does not count
    std::optional<fs::LoadReport> load;  // the same
  };
  std::optional<Said> said;
};

struct ArrivalsSight {
  std::string vnfs;
  std::string cause;
  std::uint64_t count = 0;
  Histogram blackouts_s;
};

struct LunReport {
  bool found = false;
  bool healthy = false;
  std::uint64_t errors = 0;
  std::optional<Histogram> reads_s;
  double waiting_s = 0;
};

struct EtcdSight {
  std::vector<kv::MemberStatus> members;  // as of the last answer
  bool up = false;
  double answer_age_s = 0;
  std::uint64_t errors = 0;
  std::optional<Histogram> reads_s;
  std::int64_t quota_bytes = 0;
  std::int64_t in_use_permille = 0;
};

struct FencingSight {
  bool ready = false;
  std::optional<bool> agent_ready;         // nullopt: none is configured
  std::optional<bool> reservations_ready;  // the same
  std::size_t stalls = 0;
};

struct Sights {
  AgentSight agent;
  HeadsSight heads;
  std::map<std::string, InstanceSight> instances;  // by VNFS
  std::vector<ArrivalsSight> arrivals;
  std::map<std::string, LunReport> luns;  // by name
  std::map<std::string, bool> networks;   // by name: reached well
  EtcdSight etcd;
  FencingSight fencing;
};

// The text of the page. Pure.
std::string page_of(const Sights& sights);

// Its parts.
void add_agent(Page& page, const Sights& sights);      // agent.cc
void add_cluster(Page& page, const Sights& sights);    // cluster.cc
void add_instances(Page& page, const Sights& sights);  // instances.cc
void add_load(Page& page, const Sights& sights, const std::string& vnfs,
              const fs::LoadReport& report);         // load.cc
void add_storage(Page& page, const Sights& sights);  // storage.cc: LUNs, networks, etcd

}  // namespace symnas::vnfsd::metrics

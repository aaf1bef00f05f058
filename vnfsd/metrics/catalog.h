// The catalog of metrics: every name that vnfsd shows to Prometheus, with its type, labels and
// help. Constants. Names follow https://prometheus.io/docs/practices/naming.
#pragma once

#include <span>
#include <string_view>

namespace symnas::vnfsd::metrics {

enum class Type { kGauge, kCounter, kHistogram };

struct Metric {
  std::string_view name;
  Type type;
  std::string_view labels;  // names, separated by commas; "" = none
  std::string_view help;
};

// This vnfsd.
extern const Metric kBuildInfo;
extern const Metric kAgentStartTime;
extern const Metric kPageTimestamp;
extern const Metric kPageAge;
extern const Metric kRecordsKnown;
extern const Metric kEvents;
extern const Metric kCertificateExpiry;
extern const Metric kApiCertificateExpiry;
extern const Metric kProcessCpu;
extern const Metric kProcessResident;
extern const Metric kProcessOpenFds;
extern const Metric kProcessMaxFds;
extern const Metric kProcessThreads;
extern const Metric kProcessStartTime;
// Heads.
extern const Metric kHeadState;
extern const Metric kHeadHeard;
extern const Metric kHeadClockOffset;
extern const Metric kCorosyncUp;
extern const Metric kCorosyncMember;
// VNFSs, as the records say.
extern const Metric kVnfsWanted;
extern const Metric kVnfsOwner;
extern const Metric kVnfsEpoch;
extern const Metric kVnfsClaimed;
extern const Metric kVnfsConnections;
extern const Metric kVnfsMoveOrdered;
// Instances of this head.
extern const Metric kInstanceUp;
extern const Metric kInstanceState;
extern const Metric kInstanceSince;
extern const Metric kInstanceRestarts;
extern const Metric kInstanceProblem;
extern const Metric kInstanceResident;
extern const Metric kInstanceInodes;
extern const Metric kInstanceAnswerAge;
extern const Metric kGateOpen;
extern const Metric kGateMargin;
extern const Metric kGateClosings;
extern const Metric kTokensHeld;
extern const Metric kTokensGranted;
extern const Metric kTokenWaits;
extern const Metric kTokensGivenBack;
extern const Metric kQuotaRefusals;
extern const Metric kLockRanges;
extern const Metric kInstanceEtcdSeconds;
extern const Metric kInstanceEtcdFailures;
extern const Metric kVnfsArrivals;
extern const Metric kVnfsBlackout;
// What clients ask of instances.
extern const Metric kNfsRequests;
extern const Metric kNfsErrors;
extern const Metric kNfsRequestDuration;
extern const Metric kNfsReadBytes;
extern const Metric kNfsWrittenBytes;
// LUNs and networks of this head.
extern const Metric kLunFound;
extern const Metric kLunHealthy;
extern const Metric kLunSize;
extern const Metric kLunReadSeconds;
extern const Metric kLunReadErrors;
extern const Metric kLunReadWaiting;
extern const Metric kNetworkHealthy;
// etcd.
extern const Metric kEtcdUp;
extern const Metric kEtcdReadSeconds;
extern const Metric kEtcdReadErrors;
extern const Metric kEtcdAnswerAge;
extern const Metric kEtcdMemberReachable;
extern const Metric kEtcdMemberLeader;
extern const Metric kEtcdMemberDbSize;
extern const Metric kEtcdMemberDbInUse;
extern const Metric kEtcdMemberNoSpace;
extern const Metric kEtcdQuota;
extern const Metric kEtcdQuotaUsed;
// Fencing.
extern const Metric kFencingReady;
extern const Metric kFenceAgentReady;
extern const Metric kReservationsReady;
extern const Metric kStalledMounts;

// All of them, in the order of the page.
std::span<const Metric* const> all_metrics();

}  // namespace symnas::vnfsd::metrics

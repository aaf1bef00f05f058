#include "vnfsd/metrics/catalog.h"

namespace symnas::vnfsd::metrics {

// clang-format off
// One metric, one block; `head` is always the head that a sample is about.

const Metric kBuildInfo{"symnas_build_info", Type::kGauge, "head,version,level",
    "1; the labels say which vnfsd this is."};
const Metric kAgentStartTime{"symnas_agent_start_time_seconds", Type::kGauge, "head",
    "When vnfsd read its configuration last, seconds since 1970."};
const Metric kPageTimestamp{"symnas_page_timestamp_seconds", Type::kGauge, "head",
    "When vnfsd wrote this page, seconds since 1970, by the clock of its head."};
const Metric kPageAge{"symnas_page_age_seconds", Type::kGauge, "",
    "How old the page is that this scrape shows; more than some seconds: vnfsd hangs."};
const Metric kRecordsKnown{"symnas_records_known", Type::kGauge, "head",
    "1 while vnfsd follows the records of the cluster in etcd; while it is 0 the metrics that say "
    "what the records say are missing."};
const Metric kEvents{"symnas_events_total", Type::kCounter, "head,kind",
    "Events that this head told, by kind (symnas events)."};
const Metric kCertificateExpiry{"symnas_certificate_expiry_timestamp_seconds", Type::kGauge,
    "head,file", "When the certificate of the file ends, seconds since 1970."};

const Metric kApiCertificateExpiry{"symnas_api_certificate_expiry_timestamp_seconds", Type::kGauge,
    "head,file",
    "When the certificate of symnas-apid, or of its authority, ends, seconds since 1970."};

const Metric kProcessCpu{"process_cpu_seconds_total", Type::kCounter, "",
    "Processor time of vnfsd, user and system."};
const Metric kProcessResident{"process_resident_memory_bytes", Type::kGauge, "",
    "Resident memory of vnfsd."};
const Metric kProcessOpenFds{"process_open_fds", Type::kGauge, "", "Open descriptors of vnfsd."};
const Metric kProcessMaxFds{"process_max_fds", Type::kGauge, "",
    "How many descriptors vnfsd may open."};
const Metric kProcessThreads{"process_threads", Type::kGauge, "", "Threads of vnfsd."};
const Metric kProcessStartTime{"process_start_time_seconds", Type::kGauge, "",
    "When the process vnfsd started, seconds since 1970."};

const Metric kHeadState{"symnas_head_state", Type::kGauge, "head,state",
    "1 for the state that the records have of the head, 0 for the others."};
const Metric kHeadHeard{"symnas_head_heard", Type::kGauge, "head",
    "1 while the head that reports hears that head's probes; of itself always."};
const Metric kHeadClockOffset{"symnas_head_clock_offset_seconds", Type::kGauge, "head",
    "How far the head's clock is ahead of the median of the heads' clocks."};
const Metric kCorosyncUp{"symnas_corosync_up", Type::kGauge, "",
    "1 while corosync answers and this head is in its majority."};
const Metric kCorosyncMember{"symnas_corosync_member", Type::kGauge, "head",
    "1 while corosync has the head as a member."};

const Metric kVnfsWanted{"symnas_vnfs_wanted", Type::kGauge, "vnfs",
    "1 if the VNFS is to be served, 0 if an administrator has stopped it."};
const Metric kVnfsOwner{"symnas_vnfs_owner", Type::kGauge, "vnfs,head",
    "1 for the head that owns the VNFS; no sample: nobody owns it."};
const Metric kVnfsEpoch{"symnas_vnfs_epoch", Type::kGauge, "vnfs",
    "Epoch of the instance that owns the VNFS; another one with each start of an instance."};
const Metric kVnfsClaimed{"symnas_vnfs_claimed_timestamp_seconds", Type::kGauge, "vnfs",
    "Since when its owner owns the VNFS, seconds since 1970."};
const Metric kVnfsConnections{"symnas_vnfs_connections", Type::kGauge, "vnfs",
    "TCP connections of the clients of the VNFS when they were last looked at."};
const Metric kVnfsMoveOrdered{"symnas_vnfs_move_ordered_timestamp_seconds", Type::kGauge,
    "vnfs,to", "Since when the VNFS is to move to that head; no sample: it is not to move."};

const Metric kInstanceUp{"symnas_instance_up", Type::kGauge, "head,vnfs",
    "1 while the instance of the VNFS on this head serves."};
const Metric kInstanceState{"symnas_instance_state", Type::kGauge, "head,vnfs,state",
    "1 for the state of the VNFS's instance on this head, 0 for the others."};
const Metric kInstanceSince{"symnas_instance_state_since_timestamp_seconds", Type::kGauge,
    "head,vnfs", "Since when the instance has its state, seconds since 1970."};
const Metric kInstanceRestarts{"symnas_instance_restarts_total", Type::kCounter, "head,vnfs",
    "Restarts in place since vnfsd started."};
const Metric kInstanceProblem{"symnas_instance_problem", Type::kGauge, "head,vnfs",
    "1 while something keeps the instance from serving all that it should (symnas status)."};
const Metric kInstanceResident{"symnas_instance_resident_memory_bytes", Type::kGauge, "head,vnfs",
    "Resident memory of the instance."};
const Metric kInstanceInodes{"symnas_instance_cached_inodes", Type::kGauge, "head,vnfs",
    "Inodes of which the instance keeps an object."};
const Metric kInstanceAnswerAge{"symnas_instance_answer_age_seconds", Type::kGauge, "head,vnfs",
    "How long ago the instance said last what its metrics say; they stay as they were."};
const Metric kGateOpen{"symnas_gate_open", Type::kGauge, "head,vnfs",
    "1 while the instance can prove that it may answer its clients."};
const Metric kGateMargin{"symnas_gate_margin_seconds", Type::kGauge, "head,vnfs",
    "How long the gate of the instance stays open without a further proof from etcd."};
const Metric kGateClosings{"symnas_gate_closings_total", Type::kCounter, "head,vnfs",
    "How often a gate of the instance was closed and opened again."};
const Metric kTokensHeld{"symnas_tokens_held", Type::kGauge, "head,vnfs",
    "Files on which the instance has a token."};
const Metric kTokensGranted{"symnas_tokens_granted_total", Type::kCounter, "head,vnfs",
    "Tokens that the instance has taken, beside those of files that it made."};
const Metric kTokenWaits{"symnas_token_waits_total", Type::kCounter, "head,vnfs",
    "How often it waited for another instance before that."};
const Metric kTokensGivenBack{"symnas_tokens_given_back_total", Type::kCounter, "head,vnfs",
    "Tokens that it gave back because another instance wanted them."};
const Metric kQuotaRefusals{"symnas_quota_refusals_total", Type::kCounter, "head,vnfs",
    "Changes that it refused because they would have passed a quota."};
const Metric kLockRanges{"symnas_lock_ranges", Type::kGauge, "head,vnfs",
    "Byte ranges that clients of the instance have locked."};
const Metric kInstanceEtcdSeconds{"symnas_instance_etcd_seconds", Type::kHistogram, "head,vnfs",
    "How long tries of etcd transactions by the instance took."};
const Metric kInstanceEtcdFailures{"symnas_instance_etcd_failures_total", Type::kCounter,
    "head,vnfs", "How many of these tries failed or were not answered."};
const Metric kVnfsArrivals{"symnas_vnfs_arrivals_total", Type::kCounter, "head,vnfs,cause",
    "How often the VNFS came to be served by this head, since vnfsd started."};
const Metric kVnfsBlackout{"symnas_vnfs_blackout_seconds", Type::kHistogram, "head,vnfs,cause",
    "Time without an answer to clients before each of these arrivals, where it is known."};

const Metric kNfsRequests{"symnas_nfs_requests_total", Type::kCounter,
    "head,vnfs,export,protocol,operation",
    "Requests of clients (of NFSv4: operations), since the instance began."};
const Metric kNfsErrors{"symnas_nfs_errors_total", Type::kCounter,
    "head,vnfs,export,protocol,operation",
    "Those of them that were answered with another status than OK, or not at all."};
const Metric kNfsRequestDuration{"symnas_nfs_request_duration_seconds", Type::kHistogram,
    "head,vnfs,export,protocol,operation", "How long requests took from arrival to answer."};
const Metric kNfsReadBytes{"symnas_nfs_read_bytes_total", Type::kCounter, "head,vnfs,export",
    "Data that clients read."};
const Metric kNfsWrittenBytes{"symnas_nfs_written_bytes_total", Type::kCounter,
    "head,vnfs,export", "Data that clients wrote."};

const Metric kLunFound{"symnas_lun_found", Type::kGauge, "head,lun",
    "1 if the LUN is open on this head."};
const Metric kLunHealthy{"symnas_lun_healthy", Type::kGauge, "head,lun",
    "1 while small reads of the LUN, one a second, succeed on this head."};
const Metric kLunSize{"symnas_lun_size_bytes", Type::kGauge, "lun", "Size of the LUN."};
const Metric kLunReadSeconds{"symnas_lun_read_seconds", Type::kHistogram, "head,lun",
    "How long these reads took, since this head has the LUN at its present path."};
const Metric kLunReadErrors{"symnas_lun_read_errors_total", Type::kCounter, "head,lun",
    "How many of these reads failed."};
const Metric kLunReadWaiting{"symnas_lun_read_waiting_seconds", Type::kGauge, "head,lun",
    "How long the read under way has waited; 0: none is under way."};
const Metric kNetworkHealthy{"symnas_network_healthy", Type::kGauge, "head,network",
    "1 while this head reaches the network well."};

const Metric kEtcdUp{"symnas_etcd_up", Type::kGauge, "head",
    "1 if the last read of etcd by this head, which needs its quorum, was answered."};
const Metric kEtcdReadSeconds{"symnas_etcd_read_seconds", Type::kHistogram, "head",
    "How long such reads took, one every two seconds."};
const Metric kEtcdReadErrors{"symnas_etcd_read_errors_total", Type::kCounter, "head",
    "How many of these reads were not answered."};
const Metric kEtcdAnswerAge{"symnas_etcd_answer_age_seconds", Type::kGauge, "head",
    "How long ago etcd answered last; what is said of its members is as old."};
const Metric kEtcdMemberReachable{"symnas_etcd_member_reachable", Type::kGauge, "head,endpoint",
    "1 while this head reaches the member of etcd."};
const Metric kEtcdMemberLeader{"symnas_etcd_member_leader", Type::kGauge, "head,endpoint",
    "1 for the member that leads."};
const Metric kEtcdMemberDbSize{"symnas_etcd_member_db_size_bytes", Type::kGauge, "head,endpoint",
    "Size of the member's database file."};
const Metric kEtcdMemberDbInUse{"symnas_etcd_member_db_in_use_bytes", Type::kGauge,
    "head,endpoint", "How much of that is in use."};
const Metric kEtcdMemberNoSpace{"symnas_etcd_member_no_space", Type::kGauge, "head,endpoint",
    "1 while the member refuses changes because it is full."};
const Metric kEtcdQuota{"symnas_etcd_quota_bytes", Type::kGauge, "head",
    "Quota of etcd's database, as this head is configured."};
const Metric kEtcdQuotaUsed{"symnas_etcd_quota_used_ratio", Type::kGauge, "head",
    "Share of the quota that is in use by the fullest member, 0 to 1."};

const Metric kFencingReady{"symnas_fencing_ready", Type::kGauge, "head",
    "1 if this head could fence another one and take its VNFSs over, as far as it can tell."};
const Metric kFenceAgentReady{"symnas_fence_agent_ready", Type::kGauge, "head",
    "1 if the last check of the fence agent found nothing wrong; no sample: none is configured."};
const Metric kReservationsReady{"symnas_reservations_ready", Type::kGauge, "head",
    "1 while this head is registered on all LUNs; no sample: reservations are not configured."};
const Metric kStalledMounts{"symnas_stalled_mounts", Type::kGauge, "head",
    "Mounts that keep others waiting, as this head sees it."};
// clang-format on

namespace {

constexpr const Metric* kAll[] = {&kBuildInfo,
                                  &kAgentStartTime,
                                  &kPageTimestamp,
                                  &kPageAge,
                                  &kRecordsKnown,
                                  &kEvents,
                                  &kCertificateExpiry,
                                  &kApiCertificateExpiry,
                                  &kProcessCpu,
                                  &kProcessResident,
                                  &kProcessOpenFds,
                                  &kProcessMaxFds,
                                  &kProcessThreads,
                                  &kProcessStartTime,
                                  &kHeadState,
                                  &kHeadHeard,
                                  &kHeadClockOffset,
                                  &kCorosyncUp,
                                  &kCorosyncMember,
                                  &kVnfsWanted,
                                  &kVnfsOwner,
                                  &kVnfsEpoch,
                                  &kVnfsClaimed,
                                  &kVnfsConnections,
                                  &kVnfsMoveOrdered,
                                  &kInstanceUp,
                                  &kInstanceState,
                                  &kInstanceSince,
                                  &kInstanceRestarts,
                                  &kInstanceProblem,
                                  &kInstanceResident,
                                  &kInstanceInodes,
                                  &kInstanceAnswerAge,
                                  &kGateOpen,
                                  &kGateMargin,
                                  &kGateClosings,
                                  &kTokensHeld,
                                  &kTokensGranted,
                                  &kTokenWaits,
                                  &kTokensGivenBack,
                                  &kQuotaRefusals,
                                  &kLockRanges,
                                  &kInstanceEtcdSeconds,
                                  &kInstanceEtcdFailures,
                                  &kVnfsArrivals,
                                  &kVnfsBlackout,
                                  &kNfsRequests,
                                  &kNfsErrors,
                                  &kNfsRequestDuration,
                                  &kNfsReadBytes,
                                  &kNfsWrittenBytes,
                                  &kLunFound,
                                  &kLunHealthy,
                                  &kLunSize,
                                  &kLunReadSeconds,
                                  &kLunReadErrors,
                                  &kLunReadWaiting,
                                  &kNetworkHealthy,
                                  &kEtcdUp,
                                  &kEtcdReadSeconds,
                                  &kEtcdReadErrors,
                                  &kEtcdAnswerAge,
                                  &kEtcdMemberReachable,
                                  &kEtcdMemberLeader,
                                  &kEtcdMemberDbSize,
                                  &kEtcdMemberDbInUse,
                                  &kEtcdMemberNoSpace,
                                  &kEtcdQuota,
                                  &kEtcdQuotaUsed,
                                  &kFencingReady,
                                  &kFenceAgentReady,
                                  &kReservationsReady,
                                  &kStalledMounts};

}  // namespace

std::span<const Metric* const> all_metrics() { return kAll; }

}  // namespace symnas::vnfsd::metrics

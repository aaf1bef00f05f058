// Agent: vnfsd's core. Owns the store, the LUNs and one supervisor per VNFS that the planner places
// on this head, and brings them in line with the records whenever those change. Thread class:
// thread-safe; works on threads of its own.
//
// Invariant: every change of shared state is an etcd transaction with compares; destroying the
// agent leaves the instances running.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/unique_fd.h"
#include "common/env/clock.h"
#include "common/kv/membership.h"
#include "common/kv/quota.h"
#include "common/kv/store.h"
#include "fsal_cluster/state/lock_use.h"
#include "fsal_cluster/state/mount_end.h"
#include "vnfsd/address/holders.h"
#include "vnfsd/api/backend.h"
#include "vnfsd/config/config.h"
#include "vnfsd/daemon/detection/last_answers.h"
#include "vnfsd/daemon/fencing/fence_watch.h"
#include "vnfsd/daemon/fencing/limits.h"
#include "vnfsd/daemon/fencing/stalls.h"
#include "vnfsd/daemon/follow/cluster_copy.h"
#include "vnfsd/daemon/health/lun_health.h"
#include "vnfsd/daemon/health/network_health.h"
#include "vnfsd/daemon/instances/answers.h"
#include "vnfsd/daemon/journal/limits.h"
#include "vnfsd/daemon/luns/luns.h"
#include "vnfsd/daemon/luns/reservations.h"
#include "vnfsd/daemon/moves/order_ages.h"
#include "vnfsd/daemon/moves/settling.h"
#include "vnfsd/daemon/upkeep/compaction.h"
#include "vnfsd/instance/supervisor.h"
#include "vnfsd/probe/canary.h"
#include "vnfsd/probe/prober.h"

namespace symnas::vnfsd::daemon {

// What an agent uses beside the store.
struct AgentLinks {
  // symnas-fence (ha/fencing). Empty: LUNs get no identification.
  ReservationCalls reservations;
  // Cuts a head off and answers the proof of it (ha/fencing). Empty: no agent is configured.
  std::function<Result<std::string>(const std::string& head)> fence_off;
  // Whether that could work, as far as its agent can tell; given up when stop_fd can be read.
  // Empty: nobody asks.
  std::function<Status(int stop_fd)> fence_check;
  std::int64_t last_answers_ms = kLastAnswersMs;  // shorter in unit tests only
  probe::HeadSights* prober = nullptr;            // null: heads are not missed
  // Who answers for addresses on the network of a device of this head (vnfsd/address). Empty:
  // nobody is asked.
  std::function<Result<std::vector<address::Holder>>(const std::string& device,
                                                     const std::vector<IpAddress>& addresses)>
      who_has;
  // The etcd member at the address is gone with its head: nothing is to wait for it. Empty: TCP
  // finds out.
  std::function<void(const std::string& address)> leave_member;
  kv::Membership* membership = nullptr;  // null: etcd's members are left alone
  // etcd's members are others than config.etcd.endpoints says: the agent shall be made again.
  // Called on a thread of the agent, again until that happens.
  std::function<void(const std::vector<std::string>& endpoints)> endpoints_changed;
};

// Proof that a head is cut off.
struct CutOff {
  std::string proof;
  std::string cuts;              // as FenceConfig::cuts
  std::optional<LunNames> luns;  // those it was proved of; nothing: it does not depend on them
};

class Agent final : public api::Backend, public instance::Host, private kv::WatchHandler {
 public:
  // Starts working; waits for etcd on a thread of its own. `incarnation`: the kernel's boot id.
  Agent(kv::Store& store, const env::Clock& clock, Config config, std::string incarnation,
        AgentLinks links = {});
  ~Agent() override;

  // --- api::Backend
  Result<ClusterView> view() override;
  Result<std::string> change(const Planner& planner, Mode mode) override;
  Result<std::string> create_vnfs(const VnfsRequest& request, Mode mode) override;
  Result<std::string> create_vnfs_set(const VnfsSetRequest& request, Mode mode) override;
  Result<std::string> import_lun(const api::LunImportRequest& request, Mode mode) override;
  Result<std::string> release_lun(const std::string& name, api::Label label, Mode mode) override;
  Result<std::string> create_volume(const VolumeRequest& request, Mode mode) override;
  Result<std::string> grow_volume(const VolumeRequest& request, Mode mode) override;
  Result<std::string> remove_volume(const std::string& name, Mode mode) override;
  Result<std::string> create_filesystem(const fs::FormatOptions& options, Mode mode) override;
  Result<std::string> remove_filesystem(const std::string& name, Mode mode) override;
  Result<nlohmann::json> invite_head(const std::string& name, const std::string& address,
                                     api::EtcdRole role, Mode mode) override;
  Result<nlohmann::json> etcd_members() override;
  Result<std::string> remove_etcd_member(const std::string& name, Mode mode) override;
  Result<std::string> fence_head(const std::string& name, Mode mode) override;
  Result<std::string> remove_head(const std::string& name, api::Consent consent,
                                  Mode mode) override;
  Result<nlohmann::json> check_filesystem(const std::string& name) override;
  Result<nlohmann::json> capacity() override;
  Result<nlohmann::json> locks(const api::LockFilter& filter) override;
  Result<std::string> clear_locks(const api::LockFilter& filter, Mode mode) override;
  Result<nlohmann::json> events(Revision after) override;
  Result<std::string> edit_exports(const Planner& planner, Mode mode) override;
  Result<std::string> remove_export(const std::string& name, const std::vector<std::string>& vnfses,
                                    api::Consent consent, Mode mode) override;
  Result<std::string> remove_vnfs(const std::string& name, api::Consent consent,
                                  Mode mode) override;
  Result<std::string> rehost_vnfs(const std::string& name, const std::string& head, Pin pin,
                                  Mode mode) override;
  Result<nlohmann::json> vnfs_history(const std::string& name) override;
  Result<nlohmann::json> dump_inode(const std::string& filesystem,
                                    const api::DumpRequest& request) override;
  nlohmann::json local_status() override;

  // Why a head is fenced without being asked: when any of it is true no more, it is left alone.
  struct FenceCause {
    std::string incarnation;
    Revision fence;          // of its fence record
    std::string silent_key;  // a heartbeat's; "" = none
    Revision silent_revision;
    std::int64_t silent_since_ns = 0;  // wall clock
    // Its probes stay away: whoever is heard again is spared. Otherwise a mount of it is silent,
    // which its agent, if that lives, could not end.
    bool unheard = false;
  };
  // fence_head() without being asked. Errors also: kConflict when the cause is no more, kBusy when
  // another head is being fenced from here; then nothing was begun.
  Result<std::string> fence_silent_head(const std::string& name, const FenceCause& cause);

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
  // --- kv::WatchHandler
  void on_watch_created(Revision revision) override;
  void on_watch_events(std::vector<kv::WatchEvent> events, Revision revision) override;
  void on_watch_ended(Error error) override;

  void work();
  Status register_head();
  // make_change() with its events.
  Result<std::string> commit(const Planner& planner, Mode mode);
  // Adds an event to a transaction, if one can be written (agent_events.cc).
  void add_event(kv::Txn& txn, records::EventRecord event);
  std::optional<kv::Op> event_op(records::EventRecord event);
  // Writes an event soon, if etcd takes it; waits for nothing.
  void tell(std::string_view kind, const std::string& text);
  void write_told_events();
  Status write_told(const records::EventRecord& event);
  void look_at_drain(const ClusterView& view);
  // Who is connected and what is locked (agent_clients.cc). Errors: those of the store.
  struct ClientUse {
    std::size_t clients = 0;
    std::size_t connections = 0;
    std::size_t lock_records = 0;
  };
  Result<ClientUse> client_use(const ClusterView& view, const std::string& vnfs);
  Result<std::vector<std::pair<FsId, fs::LockUse>>> locks_of(const ClusterView& view,
                                                             const std::string& vnfs);
  // What the watch has shown, if it has; what etcd answers otherwise. It may lag behind the store.
  // Errors: as read_view().
  Result<ClusterView> seen_view();
  // What etcd answers. Errors: as read_view().
  Result<ClusterView> fresh_view();
  Result<instance::InstancePlan> claim_from(const ClusterView& view, const std::string& vnfs,
                                            std::optional<Epoch> prepared);
  // Brings LUNs and supervisors in line with the records. Errors: as read_view().
  Status reconcile(const ClusterView& view);
  void reconcile_luns(const ClusterView& view);
  std::vector<std::string> lun_candidates(const ClusterView& view) const;
  // Persistent reservations (agent_reservations.cc).
  void follow_reservations(const ClusterView& view);
  // Whether an instance of the VNFS may start here. Errors: kPermission (this boot was fenced),
  // kUnavailable (it is not registered), kNotFound.
  Status check_registered(const ClusterView& view, const std::string& vnfs) const;
  // By `device`, where its label was found.
  bool is_registered_on(const ClusterView& view, const std::string& lun,
                        const std::string& device) const;
  // "" = it has none. Errors: kNotSupported (it has none, or could not fence, and reservations are
  // wanted).
  Result<std::string> identification_of(const std::string& name, const std::string& path);
  bool can_fence() const;  // as configured
  // Why this head does not fence others unasked, from its configuration; "": it does.
  std::string why_no_failover() const;
  void look_at_fence_agent();
  std::optional<Status> check_fence_agent();
  // Ends a check that runs.
  std::unique_lock<std::mutex> take_fence_agent();
  // Whether it can just now: who is not registered preempts nobody. Errors: kPermission,
  // kUnavailable.
  Status check_can_fence(const ClusterView& view) const;
  // Errors: those of the way that was tried last; the message names both. REQUIRES: can_fence().
  Result<CutOff> cut_off(const std::string& head, const std::string& incarnation);
  Result<CutOff> preempt_head(const std::string& head, const std::string& incarnation);
  Status check_still_fenced(const std::string& head, const std::string& incarnation);
  void reconcile_supervisors(const ClusterView& view);
  // Says in the head's record which LUNs are open and well here and known to every instance.
  Status publish_luns(const ClusterView& view);
  void look_again();  // at the records, and at what this head knows itself
  // Answers the orders to move a VNFS here: this boot will claim it (agent_moves.cc).
  // `ages`: of OrderAges.
  void answer_moves(const ClusterView& view, const std::map<Revision, std::int64_t>& ages);
  Status check_can_take(const ClusterView& view, const std::string& vnfs) const;
  // Says in the order why it is not answered (agent_placement.cc).
  void say_why_not(const std::string& vnfs, const Stored<records::MoveRecord>& move,
                   const std::string& why);
  // A change that gives addresses to VNFSs: nobody else may answer for them (agent_vips.cc).
  Result<std::string> change_with_vips(const Planner& planner, Mode mode);
  Status check_vips_free(const ClusterView& before, const Change& change) const;
  // Orders the moves of its own VNFSs that the planner wants, and takes orders back.
  std::set<std::string> worse_networks();
  std::string why_ill(const std::string& network) const;  // "" = it is not
  void order_moves(const ClusterView& view, std::map<Revision, std::int64_t> ages);
  void finish_move(const ClusterView& view, const std::string& vnfs);
  // `why_not`: set if it can never be as things are.
  bool is_prepared(const std::string& vnfs, std::string& why_not);
  // Those that the agent before this one has left: nobody knows what became of their orders.
  void end_standbys() const;
  bool was_left_here(const std::string& vnfs) const;  // an instance of this boot
  // Erases the order that led here. Errors: kConflict, those of the store.
  Status end_move(const std::string& vnfs);
  Status end_move_of(const ClusterView& view, const std::string& vnfs);
  Status release_of(const ClusterView& view, const std::string& vnfs,
                    const instance::Farewell& farewell);
  // What `vnfs history` shows; failures are logged only (agent_history.cc).
  void note_arrival(const std::string& vnfs, const instance::Arrival& arrival);
  void note_later();
  struct Later;
  Status put_later(const std::string& vnfs, const Later& later);
  void note_departure(const std::string& vnfs, const records::Departure& departure);
  void compact_history();
  void look_at_quota();
  // Looks for mounts that keep others waiting and, if it may, ends them (agent_stalls.cc).
  void watch_stalls();
  std::vector<Stall> look_for_stalls(StallWatch& watch, const ClusterView& view);
  void end_silent_instances(const std::vector<Stall>& stalls);
  void end_silent_head(const Stall& stall, const ClusterView& view);
  void take_over_fences(const ClusterView& view);
  nlohmann::json describe(const Stall& stall) const;
  // Whether the others can do without its etcd; null: it has none. Errors: kBusy.
  Result<std::optional<kv::StoreMember>> spare_member(const std::string& head);
  // Whether this machine, in this boot, is the head of its name. Errors: kForeign.
  Status check_not_removed(const ClusterView& view) const;
  void compare_admission(const ClusterView& view, kv::Txn& txn) const;
  // Promotes learners that have caught up; says when the members have changed.
  void look_at_members();
  // Answers etcd's initial-cluster for the new member. Errors: as Membership, kAlreadyExists.
  Result<std::vector<std::string>> add_etcd_learner(const std::string& name,
                                                    const std::string& address);
  void discard_history(std::int64_t now_ms, Compaction& compaction);
  // Errors: kCorrupt, kIo (state.json tells no more what the instance has opened).
  Result<std::vector<instance::LunIdentity>> opened_luns(const std::string& vnfs) const;
  Status wait_ready();
  // Edits of exports (agent_exports.cc).
  Status check_edit(const ClusterView& view, const Change& change) const;
  Status wait_exports_served(const std::set<std::string>& vnfses, std::int64_t timeout_ms);
  Result<std::string> undo_edit(const ClusterView& before, const Change& change,
                                const std::set<std::string>& vnfses, const Error& why);
  // Answers the record's revision. Errors: kConflict, those of the store.
  Result<Revision> put_served(const instance::InstancePlan& plan, Revision before,
                              const records::ServedRecord& record);
  // Who would lose it, "" = nobody is known to. Errors: those of the store.
  Result<std::string> users_of_export(const ClusterView& view, const std::string& name,
                                      const std::set<std::string>& vnfses);
  // Notes in the labels which volume uses the LUNs (nil: none). Errors: as cvm::assign_lun,
  // kNotFound.
  Status assign_labels(const ClusterView& view, const std::vector<std::string>& luns,
                       const Uuid& volume);
  // Labels first, then the records; a failure takes the labels back.
  Result<std::string> use_luns(const VolumeRequest& request, const Uuid& volume, Mode mode,
                               const Planner& planner);
  // The steps of fence_head(). Errors: kConflict (the head came back, or another one fences it),
  // those of the store.
  // REQUIRES: fence_mutex_ is held. `cause`: null when an administrator asks for it.
  Result<std::string> fence_locked(const std::string& head, const FenceCause* cause, Mode mode);
  // Answers the fence of that incarnation: running, or as it is when it has been proven before.
  Result<records::FenceRecord> begin_fence(const std::string& head, const std::string& incarnation,
                                           const FenceCause* cause);
  // On a thread of its own, unless a fence is under way here, or was begun a moment ago. False: it
  // is not begun.
  bool start_fence(const std::string& head, FenceCause cause);
  // Instances of this head whose workers do nothing any more (agent_instances.cc).
  void watch_instances();
  void ask_instances();
  // Heads whose probes stay away (agent_detection.cc).
  void watch_heads();
  void tell_prober(const ClusterView& view);
  Status make_probe_key(const ClusterView& view);
  void look_at_networks(const std::vector<ha::PeerSight>& sights);
  void ask_vips_of(const std::string& head);
  void ask_vips(const std::string& head, std::vector<IpAddress> vips);
  std::optional<probe::Sign> sign_of_vips(const std::string& head,
                                          const std::vector<IpAddress>& vips);
  void forget_question(const std::string& head);
  void leave_member_of(const std::string& head);
  void look_at_silent(const ha::PeerSight& seen);
  void forget_removed(const std::vector<ha::PeerSight>& sights);
  bool note_silence(const std::string& head, const std::optional<std::string>& why);
  std::optional<std::string> why_not_fenced(const ClusterView& view, const ha::PeerSight& sight,
                                            const std::vector<ha::PeerSight>& sights);
  // Writes down whom the instances of this head serve, for whoever may have to take over.
  void watch_clients();
  void record_connections(const ClusterView& view,
                          const std::map<std::string, instance::InstanceSnapshot>& serving);
  // By VNFS: those that have accepted connections since their records were made.
  void keep_those_with_new_clients(std::map<std::string, instance::InstanceSnapshot>& serving);
  void note_failed_fence(const std::string& head, const std::string& incarnation,
                         const Error& error);
  // Errors also: kConflict (the cluster has other LUNs now than those it was proved of).
  Status note_proof(const std::string& head, const std::string& incarnation, const CutOff& done);
  Result<std::string> finish_fence(const std::string& head, const std::string& incarnation);
  // What finish_fence() has ended.
  struct EndedMounts {
    std::size_t count = 0;
    std::map<std::string, std::uint64_t> epochs;  // by VNFS
  };
  // Puts the end records of what it owns; answers the transaction that erases those records.
  // Errors: those of fs::end_mounts_of.
  Result<kv::Txn> end_mounts_of_head(const ClusterView& view, const std::string& head,
                                     const fs::EndProof& proof, EndedMounts& ended);
  void note_fenced(const records::FenceRecord& fence, const EndedMounts& ended);
  void wait_for_last_answers(const std::string& head) const;
  // Errors: kConflict (it is another head's, another boot's, or gone).
  Result<Stored<records::FenceRecord>> my_fence(const ClusterView& view, const std::string& head,
                                                const std::string& incarnation) const;
  // kUnclear: etcd has not said what became of it. After that, and after a conflict, the records
  // tell: it may have been put all the same.
  enum class PutFence { kDone, kConflict, kUnclear };
  PutFence put_fence(const std::string& head, const records::FenceRecord& record, kv::Txn txn);
  // Of a fence with nothing proven, whose fencer has gone and whose head is heard.
  void give_up_fence(const ClusterView& view, const std::string& head);
  std::set<std::string> heard_heads(const ClusterView& view) const;  // just now, their last boots
  // Waits until check_luns_seen() holds. Errors: those of it.
  Status wait_for_heads(const VolumeRequest& request);

  kv::Store& store_;
  const env::Clock& clock_;
  const Config config_;
  kv::QuotaGauge quota_;
  EventRing event_ring_;
  const std::string incarnation_;
  const AgentLinks links_;
  LunSet luns_;

  std::mutex admin_mutex_;  // one change that touches devices at a time; taken before all others

  std::mutex fence_mutex_;  // one fence at a time; taken before mutex_

  // Who reads all records of a filesystem: the others are refused, so that the API's threads stay
  // free. Taken before mutex_.
  std::mutex look_mutex_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ready_ = false;      // the head is registered
  bool removed_ = false;    // this head is none of the cluster (any more)
  bool dirty_ = true;       // records have changed since the last reconcile
  bool watch_over_ = true;  // a new watch is needed
  bool ending_ = false;
  std::deque<records::EventRecord> told_;  // not written yet, at most kEventsWaitingMax
  std::vector<Stall> stalls_;              // of the last look
  std::string problem_;                    // why the last round of work failed; "" = it did not
  std::map<std::string, std::unique_ptr<instance::Supervisor>> supervisors_;  // by VNFS
  // Of the instance of that epoch: InstanceSnapshot.
  struct Later {
    std::uint64_t epoch = 0;
    std::int64_t first_request_ns = 0;
    std::int64_t last_reclaim_ns = 0;
    friend bool operator==(const Later&, const Later&) = default;
  };
  struct Arrivals {
    std::uint64_t count = 0;
    std::uint64_t timed = 0;  // of them: those whose blackout is known
    std::int64_t blackout_ms = 0;
  };
  // Since this vnfsd started, by VNFS and by cause (vnfsd/records/history.h).
  std::map<std::string, std::map<std::string, Arrivals>> arrivals_;
  // What is in the history already, by VNFS; confined to the thread of watch_stalls().
  std::map<std::string, Later> later_;
  // Pid and accepted connections (instance::accepted_by) of which c/conn tells; confined to
  // client_watcher_.
  std::map<std::string, std::pair<int, std::uint64_t>> recorded_clients_;

  std::mutex scan_mutex_;        // one scan at a time; taken before mutex_
  std::string scanned_version_;  // of the LUN set at the last scan
  std::int64_t scanned_at_ms_ = 0;

  ClusterCopy copy_;
  std::unique_ptr<kv::Watch> watch_;  // confined to thread_
  std::set<std::string> preparing_;   // confined to thread_: VNFSs that are on their way here
  // Boots whose fence has failed, in which record, seen first when (mono); confined to thread_.
  std::map<std::string, std::pair<Revision, std::int64_t>> unproven_;
  bool swept_ = false;        // confined to thread_: end_standbys() is done
  bool unpublished_ = false;  // confined to thread_: publish_luns() has more to say
  bool moving_ = false;       // confined to thread_: what it ordered is under way
  bool drains_ = false;       // confined to thread_: it is being drained, and owns some
  SettleWatch settling_;      // confined to thread_
  OrderAges order_ages_;      // confined to thread_
  LunCanaries canaries_{[this] { look_again(); }};
  std::thread thread_;
  // Held while the fence agent runs for this head: what it talks to may have one session only.
  std::mutex fence_agent_mutex_;
  UniqueFd stop_check_;  // eventfd: its check ends now
  // Nothing: it was stopped, or not begun. Confined to compactor_.
  std::future<std::optional<Status>> fence_check_;
  std::int64_t fence_checked_ms_ = 0;
  std::string fence_agent_error_;  // of its last check; guarded by mutex_
  std::thread compactor_;
  FenceWatch fence_watch_;  // confined to stall_watcher_
  std::thread stall_watcher_;
  // At the last reconcile; guarded by mutex_.
  std::map<std::string, std::vector<Cidr>> vips_by_head_;
  std::map<std::string, std::vector<IpAddress>> addresses_by_head_;  // of others, by path
  std::map<std::string, std::string> devices_by_network_;
  std::map<std::string, std::set<std::string>> ill_there_;  // by other head: what it says is ill
  bool networks_remembered_ = false;  // what this head said last of them is in `ill_networks_`
  // Guarded by mutex_: what `network_health_` says.
  std::map<std::string, std::string> ill_networks_;
  std::set<std::string> worse_networks_;
  // Confined to head_watcher_, by head.
  struct VipQuestion {
    std::int64_t asked_ms = 0;
    std::vector<IpAddress> vips;
    std::future<probe::Sign> sign;
  };
  std::map<std::string, VipQuestion> vip_questions_;  // of this silence of the head
  std::vector<std::future<probe::Sign>> not_needed_;  // that nobody waits for any more
  NetworkHealth network_health_;
  std::int64_t networks_looked_ms_ = 0;
  bool networks_looked_at_ = false;
  std::map<std::string, std::int64_t> silent_looked_ms_;
  std::set<std::string> left_members_;              // whose heads are silent, by head
  LastAnswers last_answers_;                        // confined to head_watcher_
  std::map<std::string, std::string> silent_told_;  // why it is not fenced; guarded by mutex_
  std::thread head_watcher_;
  std::map<std::string, AnswerWatch> answers_;  // confined to instance_watcher_, by VNFS
  std::thread instance_watcher_;
  std::thread client_watcher_;
  std::mutex fence_start_mutex_;  // leaf; guards the two below
  std::map<std::string, std::int64_t> fence_tried_ms_;
  std::future<void> fencing_;                   // the last fence without being asked
  std::unique_ptr<Reservations> reservations_;  // null: not configured. Made before any thread
};

// What the head that it forbids to claim says: kPermission.
tl::unexpected<Error> fenced_here(const records::FenceRecord& fence);

// Those that have an identification.
LunNames identified_luns(const ClusterView& view);

// Changes whenever a scan may find something new.
std::string lun_set_version(const ClusterView& view);

}  // namespace symnas::vnfsd::daemon

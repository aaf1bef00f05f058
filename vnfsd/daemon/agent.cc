#include "vnfsd/daemon/agent.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "cvm/volume.h"
#include "vnfsd/daemon/follow/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/luns/limits.h"
#include "vnfsd/daemon/moves/limits.h"
#include "vnfsd/daemon/upkeep/compaction.h"
#include "vnfsd/daemon/upkeep/limits.h"
#include "vnfsd/daemon/version.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/plans/exports.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {

using instance::Supervisor;
using instance::Wanted;

tl::unexpected<Error> fenced_here(const records::FenceRecord& fence) {
  return fail(ErrorCode::kPermission,
              fmt::format("head {}: this boot of it was fenced by head {}: {} (reboot it: the next "
                          "boot serves again)",
                          fence.head(), fence.by(),
                          fence.proof().empty() ? "no proof yet" : fence.proof()));
}

namespace {

// Of its LUNs, as text.
std::set<std::string> uuids_of(const ClusterView& view) {
  std::set<std::string> uuids;
  for (const auto& [name, lun] : view.luns) {
    if (const auto uuid = cvm::uuid_from_bytes(lun.record.uuid())) uuids.insert(uuid->to_string());
  }
  return uuids;
}

}  // namespace

Agent::Agent(kv::Store& store, const env::Clock& clock, Config config, std::string incarnation,
             AgentLinks links)
    : store_(store),
      clock_(clock),
      config_(std::move(config)),
      quota_(config_.etcd.quota_bytes),
      event_ring_(config_.head_name),
      incarnation_(std::move(incarnation)),
      links_(std::move(links)),
      luns_(config_.cluster_uuid) {
  stop_check_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  CHECK(stop_check_.valid(), "eventfd");
  if (config_.fence.persistent_reservations && links_.reservations) {
    reservations_ = std::make_unique<Reservations>(
        links_.reservations, config_.head_name + "/" + incarnation_, [this] { look_again(); });
  }
  thread_ = std::thread([this] { work(); });
  compactor_ = std::thread([this] { compact_history(); });
  stall_watcher_ = std::thread([this] { watch_stalls(); });
  head_watcher_ = std::thread([this] { watch_heads(); });
  instance_watcher_ = std::thread([this] { watch_instances(); });
  client_watcher_ = std::thread([this] { watch_clients(); });
}

Agent::~Agent() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  ::eventfd_write(stop_check_.get(), 1);
  thread_.join();
  compactor_.join();
  stall_watcher_.join();
  head_watcher_.join();
  instance_watcher_.join();
  client_watcher_.join();
  if (fencing_.valid()) fencing_.wait();
  watch_.reset();
  copy_.watch_ended();
  supervisors_.clear();
  reservations_.reset();
}

void Agent::look_again() {
  {
    const std::scoped_lock lock(mutex_);
    dirty_ = true;
  }
  changed_.notify_all();
}

// What happened before the watch began is seen by reading.
void Agent::on_watch_created(Revision) {
  copy_.watch_began();
  look_again();
}

void Agent::on_watch_events(std::vector<kv::WatchEvent> events, Revision) {
  copy_.apply(std::move(events));
  look_again();
}

void Agent::on_watch_ended(Error) {
  copy_.watch_ended();
  {
    const std::scoped_lock lock(mutex_);
    watch_over_ = true;
  }
  changed_.notify_all();
}

Result<ClusterView> Agent::fresh_view() {
  const std::uint64_t watch = copy_.watch();
  SYMNAS_ASSIGN(const ClusterRecords records, read_records(store_, kStoreDeadlineMs));
  if (copy_.fill(records, watch)) look_again();
  return view_of(records.kvs, records.revision);
}

Result<ClusterView> Agent::seen_view() {
  if (auto seen = copy_.view()) return std::move(*seen);
  return fresh_view();
}

void Agent::work() {
  std::int64_t read_ms = 0;  // when the records were read last, whatever the watch has shown
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const bool open_watch = std::exchange(watch_over_, false);
    const bool look = std::exchange(dirty_, false) || open_watch;
    const bool registered = ready_;
    lock.unlock();
    Status done;
    if (!registered) done = register_head();
    if (done && open_watch) {
      watch_.reset();
      copy_.watch_ended();  // it did not say so itself
      watch_ = store_.watch(kv::prefix_range("c/"), Revision{}, this);
    }
    if (done && (look || !registered)) {
      const std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
      const bool due = !registered || now_ms - read_ms >= kReconcileMs;
      const auto view = due ? fresh_view() : seen_view();
      if (due && view) read_ms = now_ms;
      done = view ? reconcile(*view) : tl::unexpected<Error>(view.error());
    }
    lock.lock();
    if (done) {
      ready_ = true;
      removed_ = false;
      problem_.clear();
      changed_.notify_all();
      const std::int64_t pause_ms = unpublished_ ? kRefreshPollMs
                                    : moving_    ? kOwnMovesPollMs
                                                 : kReconcileMs;
      const bool told = changed_.wait_for(lock, std::chrono::milliseconds(pause_ms),
                                          [&] { return ending_ || dirty_ || watch_over_; });
      if (!told) read_ms = clock_.mono_ns() / 1'000'000 - kReconcileMs;
      dirty_ = true;  // also when nothing happened: records are looked at every kReconcileMs
    } else {
      read_ms = clock_.mono_ns() / 1'000'000 - kReconcileMs;
      removed_ = done.error().code == ErrorCode::kForeign;
      ready_ = ready_ && !removed_;
      if (problem_ != done.error().message) log::warn("{}", done.error().message);
      problem_ = done.error().message;
      if (removed_) changed_.notify_all();  // who waits for its registration waits in vain
      dirty_ = true;
      watch_over_ = watch_over_ || open_watch;
      changed_.wait_for(lock, std::chrono::milliseconds(kRetryMs), [&] { return ending_; });
    }
  }
}

Status Agent::register_head() {
  SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
  if (const Status known = event_ring_.resume(store_, kStoreDeadlineMs); !known) {
    log::warn("events: none are written: {}", known.error().message);
  }
  const std::string uuid = cvm::uuid_to_bytes(config_.cluster_uuid);
  if (view.cluster.mod_revision != Revision{} && view.cluster.record.uuid() != uuid) {
    return fail(
        ErrorCode::kForeign,
        fmt::format("cluster {}: etcd holds another cluster, {} (check [etcd] endpoints and "
                    "[cluster] uuid in vnfsd.toml)",
                    config_.cluster_name, view.cluster.record.name()));
  }
  SYMNAS_TRY(check_not_removed(view));
  kv::Txn txn;
  compare_admission(view, txn);
  if (view.removed.contains(config_.head_name))  // another machine's, or another life of this one
    txn.success.push_back(kv::erase(kv::keys::kRemoved + config_.head_name));
  if (view.cluster.mod_revision == Revision{}) {
    records::ClusterRecord cluster;
    cluster.set_name(config_.cluster_name);
    cluster.set_uuid(uuid);
    cluster.set_created_ns(clock_.wall_ns());
    txn.compares.push_back(kv::key_absent(kv::keys::kCluster));
    txn.success.push_back(kv::put(kv::keys::kCluster, cluster.SerializeAsString()));
  }
  const auto old = view.heads.find(config_.head_name);
  records::HeadRecord head;
  Revision revision;
  if (old != view.heads.end()) {
    head = old->second.record;
    revision = old->second.mod_revision;
  }
  head.set_name(config_.head_name);
  head.set_address(config_.head_address);
  head.clear_probe_addresses();
  for (const std::string& address : config_.probe_addresses) head.add_probe_addresses(address);
  head.clear_macs();
  for (const address::MacAddress& mac : address::device_macs())
    head.add_macs(std::string(mac.begin(), mac.end()));
  head.set_incarnation(incarnation_);
  head.set_agent_started_ns(clock_.wall_ns());
  head.set_version(kVersion);
  head.clear_luns();  // said anew when they are open
  head.clear_luns_known();
  const auto fence = view.fences.find(config_.head_name);
  if (fence != view.fences.end()) {
    if (forbids_claims(fence->second.record, incarnation_)) {
      reconcile_supervisors(view);  // what this boot has started is to be hidden and ended
      return fenced_here(fence->second.record);
    }
    // An earlier incarnation's: this one has nothing to do with it.
    txn.compares.push_back(
        kv::mod_revision_is(kv::keys::kFences + config_.head_name, fence->second.mod_revision));
    txn.success.push_back(kv::erase(kv::keys::kFences + config_.head_name));
  } else {
    txn.compares.push_back(kv::key_absent(kv::keys::kFences + config_.head_name));
  }
  const std::string key = kv::keys::kHeads + config_.head_name;
  txn.compares.push_back(kv::mod_revision_is(key, revision));
  txn.success.push_back(kv::put(key, head.SerializeAsString()));
  const bool booted = old == view.heads.end() || old->second.record.incarnation() != incarnation_;
  add_event(txn, make_event(event::kHeadStarted,
                            fmt::format("head {}: its agent {} has started{}", config_.head_name,
                                        kVersion, booted ? ", first of this boot" : ""),
                            clock_.wall_ns()));
  SYMNAS_ASSIGN(const kv::TxnResult result, kv::txn_blocking(store_, txn, kStoreDeadlineMs));
  if (!result.succeeded) return fail(ErrorCode::kConflict, "head: registering again");
  log::info("head {}: registered in cluster {}", config_.head_name, config_.cluster_name);
  return {};
}

Status Agent::reconcile(const ClusterView& view) {
  if (const Status allowed = check_not_removed(view); !allowed) {
    // It owns nothing: what waits here to be called is not needed.
    const std::scoped_lock lock(mutex_);
    for (const auto& [name, supervisor] : supervisors_) supervisor->set_wanted(Wanted::kStopped);
    return allowed;
  }
  if (!std::exchange(swept_, true)) end_standbys();
  tell_prober(view);
  if (is_any_being_cut_off(view)) ::eventfd_write(stop_check_.get(), 1);
  SYMNAS_TRY(make_probe_key(view));
  follow_reservations(view);
  reconcile_luns(view);
  canaries_.follow(luns_.paths(), uuids_of(view));
  auto ages = order_ages_.look(clock_.mono_ns(), view);
  answer_moves(view, ages);
  order_moves(view, std::move(ages));
  look_at_drain(view);
  reconcile_supervisors(view);
  return publish_luns(view);
}

Status Agent::publish_luns(const ClusterView& view) {
  unpublished_ = false;
  if (reservations_ && reservations_->undecided()) return {};  // its LUNs cannot be read yet
  const auto self = view.heads.find(config_.head_name);
  if (self == view.heads.end() || self->second.record.incarnation() != incarnation_) return {};
  records::HeadRecord head = self->second.record;
  head.clear_luns();
  {
    // No scan now: what it finds and the supervisors' notice of it belong together.
    const std::scoped_lock scanning(scan_mutex_);
    const auto ill = canaries_.ill();
    for (const instance::LunPath& lun : luns_.paths()) {
      // An instance that meets a LUN where others are registered and this head is not would end.
      if (ill.contains(lun.uuid) || !is_registered_on(view, lun.name, lun.path)) continue;
      SYMNAS_ASSIGN(const Uuid uuid, Uuid::parse(lun.uuid));
      head.add_luns(cvm::uuid_to_bytes(uuid));
    }
    const std::scoped_lock lock(mutex_);
    head.clear_ill_networks();
    for (const auto& [name, why] : ill_networks_) head.add_ill_networks(name);
    const auto& said = self->second.record;
    if (head.luns_known() && std::ranges::equal(said.luns(), head.luns()) &&
        std::ranges::equal(said.ill_networks(), head.ill_networks())) {
      return {};
    }
    head.set_luns_known(true);
    for (const auto& [name, supervisor] : supervisors_) {
      unpublished_ = unpublished_ || !supervisor->refreshed();
    }
  }
  if (unpublished_) return {};
  const std::string key = kv::keys::kHeads + config_.head_name;
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(key, self->second.mod_revision));
  txn.success.push_back(kv::put(key, head.SerializeAsString()));
  SYMNAS_ASSIGN(const kv::TxnResult result, kv::txn_blocking(store_, txn, kStoreDeadlineMs));
  unpublished_ = !result.succeeded;
  return {};
}

void Agent::reconcile_luns(const ClusterView& view) {
  const std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
  const std::scoped_lock scanning(scan_mutex_);
  if (luns_.complete(view)) return;
  std::string version = lun_set_version(view);
  if (reservations_) {
    // Whoever is not registered reads no label.
    const std::uint64_t times = reservations_->registered_times();
    if (times == 0) return;
    version += fmt::to_string(times);
  }
  if (version == scanned_version_ && now_ms - scanned_at_ms_ < kRescanMs) return;
  scanned_version_ = version;
  scanned_at_ms_ = now_ms;
  if (!luns_.scan(view, lun_candidates(view))) return;
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, supervisor] : supervisors_) supervisor->refresh();
}

std::vector<std::string> Agent::lun_candidates(const ClusterView& view) const {
  std::vector<std::string> candidates = config_.daemon.lun_paths;
  for (const auto& [name, head] : view.heads) {
    for (const std::string& path : head.record.lun_paths()) {
      if (std::find(candidates.begin(), candidates.end(), path) == candidates.end()) {
        candidates.push_back(path);
      }
    }
  }
  return candidates;
}

void Agent::reconcile_supervisors(const ClusterView& view) {
  std::vector<std::unique_ptr<Supervisor>> gone;
  {
    const std::scoped_lock lock(mutex_);
    for (auto it = supervisors_.begin(); it != supervisors_.end();) {
      if (view.vnfses.contains(it->first)) {
        ++it;
        continue;
      }
      gone.push_back(std::move(it->second));
      instance::remove_tree(instance::paths_for(config_, it->first).directory);
      it = supervisors_.erase(it);
    }
    const ha::Facts facts = facts_of(view);
    // What a fenced head has left ends itself, and its status goes on to say why it is refused.
    const auto self = facts.heads.find(config_.head_name);
    const bool lost = self == facts.heads.end() || self->second == ha::HeadState::kLost;
    for (const auto& [name, place] : ha::plan(facts)) {
      const auto owner = view.owners.find(name);
      const bool owned = owner != view.owners.end();
      const bool owned_here = owned && owner->second.record.head() == config_.head_name;
      // What it is to give up it serves until the other head has answered the order.
      const bool wanted_here =
          owned ? owned_here && (place.head == config_.head_name || ha::needs_order(place.reason))
                : place.head == config_.head_name;
      const bool coming = owned && !owned_here && preparing_.contains(name) && !lost;
      const auto supervise = [&](Wanted wanted) {
        return std::make_unique<Supervisor>(name, instance::paths_for(config_, name), incarnation_,
                                            *this, instance::cluster_fsal(), clock_, wanted);
      };
      if (!wanted_here && !owned_here && !coming) {
        const auto known = supervisors_.find(name);
        // An earlier agent of a boot that was fenced since: it may hang, with its VIPs up.
        if (known == supervisors_.end() && lost && was_left_here(name))
          supervisors_[name] = supervise(Wanted::kStopped);
        // It may not be called any more.
        if (known != supervisors_.end() && lost && known->second->snapshot().state == "prepared")
          known->second->set_wanted(Wanted::kStopped);
        if (known == supervisors_.end() || lost) continue;
        known->second->set_wanted(Wanted::kStopped);
        // What it has given up, or did not get, is another head's.
        if (place.reason != ha::Reason::kStopped && known->second->snapshot().state == "stopped") {
          gone.push_back(std::move(known->second));
          supervisors_.erase(known);
        }
        continue;
      }
      const Wanted wanted = coming        ? Wanted::kPrepared
                            : wanted_here ? Wanted::kStarted
                                          : Wanted::kStopped;
      auto& supervisor = supervisors_[name];
      const std::uint64_t killed = view.vnfses.at(name).record.killed_epoch();
      if (supervisor) {
        supervisor->set_wanted(wanted);
        if (owned_here && exports_pending(view, name)) supervisor->refresh();
        if (owned_here && killed == owner->second.record.epoch())
          supervisor->end_instance(Epoch(killed), "an administrator has ordered it (symnas drill)");
      } else {
        supervisor = supervise(wanted);
      }
    }
  }
  gone.clear();  // joins their threads, which may need mutex_
}

// Discards history every compact_interval_s; while etcd's quota runs out, at every look all but the
// last seconds of it: each removal adds history, and only compaction gives its pages back.
void Agent::compact_history() {
  Compaction usual(config_.etcd.compact_keep_s * 1000, config_.etcd.compact_keep_revisions);
  Compaction tight(kTightKeepMs, kTightKeepRevisions);
  const std::int64_t look_ms = kv::quota_look_ms(quota_.quota_bytes());
  std::int64_t next_ms = 0;
  std::int64_t looked_ms = 0;
  std::int64_t members_ms = 0;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_for(lock, std::chrono::milliseconds(look_ms),
                      [&] { return ending_ || (ready_ && !told_.empty()); });
    if (ending_) return;
    lock.unlock();
    write_told_events();
    std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
    if (now_ms - looked_ms < look_ms) {
      lock.lock();
      continue;
    }
    looked_ms = now_ms;
    look_at_quota();
    if (now_ms - members_ms >= kMembersLookMs) {
      members_ms = now_ms;
      look_at_members();
      look_at_fence_agent();
    }
    now_ms = clock_.mono_ns() / 1'000'000;
    const bool short_of_space = quota_.level() != kv::QuotaLevel::kFree;
    if (short_of_space || now_ms >= next_ms) {
      next_ms = now_ms + config_.etcd.compact_interval_s * 1000;
      discard_history(now_ms, short_of_space ? tight : usual);
    }
    lock.lock();
  }
}

void Agent::look_at_quota() {
  const kv::QuotaLevel before = quota_.level();
  quota_.look(store_.status({}));
  if (quota_.level() == before) return;
  log::warn("etcd: {} permille of its quota of {} bytes are in use: level {} (was {})",
            quota_.in_use_permille(), quota_.quota_bytes(), kv::name_of(quota_.level()),
            kv::name_of(before));
  tell(event::kQuota, fmt::format("etcd: {} per cent of its quota are in use: level {} (was {})",
                                  quota_.in_use_permille() / 10, kv::name_of(quota_.level()),
                                  kv::name_of(before)));
}

void Agent::discard_history(std::int64_t now_ms, Compaction& compaction) {
  kv::Txn txn;
  txn.success.push_back(kv::get(kv::keys::kCluster));
  const auto read = kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs);
  if (!read) return;
  const auto discard = compaction.tick(now_ms, read->revision);
  if (!discard) return;
  // Another head may have been faster; whatever fails is done by the next turn.
  const Status done = store_.compact(*discard, {});
  if (!done) log::debug("etcd: compaction: {}", done.error().message);
}

Status Agent::wait_ready() {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, std::chrono::milliseconds(kReadyTimeoutMs),
                        [&] { return ready_ || ending_ || removed_; }) &&
      ready_) {
    return {};
  }
  if (removed_) return fail(ErrorCode::kForeign, problem_);
  return fail(ErrorCode::kUnavailable,
              fmt::format("vnfsd: etcd cannot be used: {} (is etcd running? symnas status)",
                          problem_.empty() ? "no answer yet" : problem_));
}

std::string lun_set_version(const ClusterView& view) {
  std::string version;
  for (const auto& [name, lun] : view.luns) version += lun.record.uuid();
  for (const auto& [name, head] : view.heads) {
    for (const std::string& path : head.record.lun_paths()) version += path + '\n';
  }
  return version;
}

}  // namespace symnas::vnfsd::daemon

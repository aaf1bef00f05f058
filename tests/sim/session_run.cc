// Simulation 2: the kv session alone. Threads of one or two mounts count, append and delete through
// Session while etcd loses, delays and repeats what they send, mounts end in the middle, processes
// stop and die. What must hold:
//  - an acknowledged change happened exactly once, a refused one never; a change that was under way
//    when its process ended happened once or not at all;
//  - nothing of a mount happens after its end record or after its guard has changed;
//  - a conflict is answered only when the compared key has changed;
//  - a strict read (barrier, range) shows everything acknowledged before it began; reads of one
//    thread never go back; after an own change a read never shows an earlier value;
//  - every revision that changes a watched key carries the stamp;
//  - at a quiet moment the caches show what etcd holds; every call has been answered.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "common/kv/session.h"
#include "tests/sim/runtime/simulation.h"
#include "tests/sim/session_keys.h"
#include "tests/sim/session_promises.h"
#include "tests/sim/session_work.h"
#include "tests/sim/sim_store.h"
#include "tests/sim/simulations.h"

namespace symnas::sim {

namespace {

namespace keys = kv::keys;

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kOpenMs = 30'000;
constexpr std::int64_t kPatienceNs = 300'000 * kNsPerMs;

class SessionRun {
 public:
  SessionRun()
      : latency_ns_max_(below(2) == 0 ? 100'000 : 2'000'000),
        server_(std::make_shared<kv::MemServer>()),
        observer_(server_, kv::prefix_range(""),
                  [this](const auto& events, Revision revision) { observe(events, revision); }),
        outside_(current_process(), server_, nullptr, 10'000) {}

  void run() {
    const std::uint64_t mounts = 1 + below(2);
    for (std::uint64_t i = 0; i < mounts; ++i) begin_mount();
    const std::uint64_t rounds = 4 + below(20);
    for (std::uint64_t i = 0; i < rounds && working(); ++i) {
      sleep_ns(static_cast<std::int64_t>(below(40)) * kNsPerMs);
      disturb();
    }
    settle();
    check_store();
    check_caches();
    close_all();
  }

 private:
  // --- mounts
  void outside(kv::Txn txn) {
    for (;;) {
      const auto done = kv::txn_blocking(outside_, txn, 10'000);
      if (done && done->succeeded) return;
      if (!done && done.error().code == ErrorCode::kNoSpace) {
        server_->set_quota(kv::MemServer::Quota::kFree);
        continue;
      }
      fail("the outsider's transaction was refused");
    }
  }
  kv::Op stamp_now() {
    std::string time;
    append_be64(time, static_cast<std::uint64_t>(current_process().wall_ns()));
    return kv::put(keys::stamp(kFs), time);
  }

  void begin_mount() {
    mounts_.push_back(std::make_unique<SessionMount>());
    SessionMount& mount = *mounts_.back();
    mount.id = mounts_.size();
    mount.process = &new_process("mount" + std::to_string(mount.id));
    mount.faults = std::make_shared<SimFaults>(SimFaults::draw_weights());
    mount.store = new SimStore(*mount.process, server_, mount.faults, latency_ns_max_);
    kv::SessionOptions& options = mount.options;
    append_be64(options.session_id, mount.id);
    options.slot_prefix = keys::slot_prefix(kFs);
    options.watched = keys::watched(kFs);
    options.stamp_key = keys::stamp(kFs);
    options.mount_key = keys::mount(kFs, MountId(mount.id));
    options.ended_key = keys::mount_ended(kFs, MountId(mount.id));
    options.cache_bytes_max =
        static_cast<std::int64_t>(below(2) == 0 ? 6'400 : 20'000 + below(100'000));
    mount.slots = options.slot_prefix + options.session_id;
    mount.guard_key = "c/owner/" + std::to_string(mount.id);
    options.guards = {kv::value_is(mount.guard_key, "mine")};
    kv::Txn claim;
    claim.success = {stamp_now(), kv::put(options.mount_key, "mount"),
                     kv::put(mount.guard_key, "mine")};
    outside(claim);
    options.mount_create_revision = stored(options.mount_key)->create_revision;
    mount.readers = below(3) == 0;
    mount.working = static_cast<int>(mount.readers ? 8 : 3 + below(4));
    const int threads = mount.working;
    spawn(*mount.process, "open", [this, &mount, threads] { serve(mount, threads); });
  }

  void serve(SessionMount& mount, int threads) {
    auto opened = kv::Session::open(
        *mount.store, *mount.process, mount.options,
        [this, &mount](const Error& error) { on_ended(mount, error); }, kOpenMs);
    if (!opened) {
      // Quota and long outages may prevent it.
      trace("not opened: %s", opened.error().message.c_str());
      mount.working = 0;
      wake(this);
      return;
    }
    mount.session = opened->release();
    mount.opened = true;
    for (int i = 0; i < threads; ++i) {
      spawn(*mount.process, "worker", [this, &mount] {
        work_.run(mount);
        --mount.working;
        wake(this);
      });
    }
  }

  void on_ended(SessionMount& mount, const Error& error) {
    trace("ended: %s", error.message.c_str());
    if (++mount.announced > 1) fail("the end was announced twice");
    if (!mount.ended_at) fail("a session ended that nobody had ended: " + error.message);
  }

  // --- disturbances
  bool working() const {
    return std::any_of(mounts_.begin(), mounts_.end(), [](const auto& mount) {
      return mount->working > 0 && mount->process->alive();
    });
  }
  void disturb() {
    SessionMount& mount = *mounts_[below(mounts_.size())];
    switch (below(12)) {
      case 0:
        server_->set_quota(kv::MemServer::Quota::kFull);
        mount.faults->set_refuse_late(below(300'000));
        sleep_ns(static_cast<std::int64_t>(below(100)) * kNsPerMs);
        server_->set_quota(kv::MemServer::Quota::kFree);
        mount.faults->set_refuse_late(0);
        break;
      case 1:
        mount.faults->set_partitioned(true);
        sleep_ns(static_cast<std::int64_t>(below(1500)) * kNsPerMs);
        mount.faults->set_partitioned(false);
        break;
      case 2: pause(*mount.process, static_cast<std::int64_t>(below(3000)) * kNsPerMs); break;
      case 3:
      case 4:
        for (const auto& one : mounts_) one->store->end_watches();
        break;
      case 5:
        if (below(3) == 0) end(mount);
        break;
      case 6:
        if (below(3) == 0) take_guard(mount);
        break;
      case 7:
        if (below(2) == 0) kill_and_succeed(mount);
        break;
      default: break;
    }
  }
  // Somebody else writes the end record; the session may be alive and working.
  void end(SessionMount& mount) {
    if (mount.ended_at) return;
    kv::Txn txn;
    txn.success = {stamp_now(), kv::put(mount.options.ended_key, "")};
    outside(txn);
  }
  void take_guard(SessionMount& mount) {
    if (mount.ended_at) return;
    kv::Txn txn;
    txn.success = {kv::put(mount.guard_key, "another's")};
    outside(txn);
  }
  void kill_and_succeed(SessionMount& mount) {
    if (mounts_.size() > 4) return;
    kill(*mount.process);
    if (below(2) == 0) sleep_ns(static_cast<std::int64_t>(below(500)) * kNsPerMs);
    end(mount);
    begin_mount();
  }

  void observe(const std::vector<kv::WatchEvent>& events, Revision revision) {
    bool watched = false;
    bool stamped = false;
    for (const kv::WatchEvent& event : events) {
      const std::string& key = event.kv.key;
      if (key == keys::stamp(kFs)) stamped = true;
      if (contains(keys::watched(kFs), key)) watched = true;
      if (!event.deleted) promises_.changed_at[key].insert(revision.value());
      for (const auto& mount : mounts_) {
        const bool its_own =
            key.starts_with(mount->slots) ||
            (!event.deleted && event.kv.value.find(mount->tag()) != std::string::npos &&
             event.kv.value.ends_with(mount->tag()));
        if (its_own && mount->ended_at && revision > *mount->ended_at) {
          fail("INV-3: a change of mount " + std::to_string(mount->id) + " after its end");
        }
        const bool ends = key == mount->options.ended_key ||
                          (key == mount->guard_key && event.kv.value != "mine");
        if (ends && !mount->ended_at) mount->ended_at = revision;
      }
    }
    if (watched && !stamped) fail("a change of a watched key without the stamp");
  }

  // --- the end of the run
  void settle() {
    for (const auto& mount : mounts_) mount->faults->stop();
    server_->set_quota(kv::MemServer::Quota::kFree);
    calm();
    const std::int64_t deadline = now_ns() + kPatienceNs;
    while (working()) {
      if (now_ns() > deadline) fail("not every call was answered");
      sleep_ns(10 * kNsPerMs);
    }
    sleep_ns(5'000 * kNsPerMs);  // late copies arrive, pauses end
  }

  std::optional<kv::KeyValue> stored(const std::string& key) const {
    return sim::stored(*server_, key);
  }

  void check_store() {
    for (std::uint64_t i = 0; i < kCounters; ++i) {
      const std::string key = counter_key(i);
      const auto kv = stored(key);
      const std::int64_t value = kv ? std::stoll(kv->value) : 0;
      if (value < promises_.counted[key]) fail("an acknowledged increment is missing");
      if (value > promises_.counted[key] + promises_.uncertain[key]) {
        fail("an increment happened that nobody was told of");
      }
      if (kv && kv->version != value) fail("an increment was executed twice");
    }
    check_log();
    for (const auto& [key, revision] : promises_.put_once) {
      const auto kv = stored(key);
      if (!kv) fail("an acknowledged put is missing");
      if (kv->version != 1) fail("a put was executed more than once");
    }
    for (const std::string& key : promises_.maybe_put) {
      const auto kv = stored(key);
      if (kv && kv->version != 1) fail("a put of unknown outcome was executed more than once");
    }
    for (const std::string& key : promises_.never_put) {
      if (stored(key)) fail("refused, but executed");
    }
    for (const auto& [key, revision] : promises_.acknowledged) {
      if (!promises_.changed_at[key].contains(revision.value())) {
        fail("acknowledged with a revision that did not change the key");
      }
    }
    const auto left = stored(watched_key("P1"));
    const auto right = stored(watched_key("P2"));
    if (left.has_value() != right.has_value() || (left && left->value != right->value)) {
      fail("half of an operation");
    }
  }

  void check_log() {
    const auto kv = stored(log_key());
    const std::string text = kv ? kv->value : "";
    std::map<std::string, int> found;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find(';', at) + 1;
      ++found[text.substr(at, end - at)];
      at = end;
    }
    for (const auto& [token, times] : found) {
      if (times != 1) fail("a token of the log is there twice");
      if (promises_.never_logged.contains(token)) fail("a refused token is in the log");
      if (!promises_.logged.contains(token) && !promises_.maybe_logged.contains(token)) {
        fail("a token of the log that nobody was told of");
      }
    }
    for (const std::string& token : promises_.logged) {
      if (!found.contains(token)) fail("an acknowledged token is not in the log");
    }
  }

  bool usable(const SessionMount& mount) const {
    return mount.opened && mount.process->alive() && !mount.ended_at;
  }

  void check_caches() {
    kv::Txn last;
    last.success = {stamp_now(), kv::put(watched_key("Zlast"), "1")};
    outside(last);
    sleep_ns(2'000 * kNsPerMs);
    for (const auto& mount : mounts_) {
      if (!usable(*mount)) continue;
      for (const kv::KeyValue& kv : server_->dump()) check_cached(*mount, kv.key);
      for (std::uint64_t i = 0; i < kScratchKeys; ++i) check_cached(*mount, scratch_key(i));
    }
  }
  void check_cached(SessionMount& mount, const std::string& key) {
    const auto cached = mount.session->peek(key);
    if (!cached) return;
    const auto kv = stored(key);
    if (cached->value.has_value() != kv.has_value() ||
        (kv && (*cached->value != kv->value || cached->mod_revision != kv->mod_revision))) {
      fail("at a quiet moment the cache of mount " + std::to_string(mount.id) +
           " differs from etcd: " + to_hex(key));
    }
  }

  // A clean close is silent; a session that is being destroyed answers promptly.
  void close_all() {
    for (const auto& one : mounts_) {
      SessionMount& mount = *one;
      if (!mount.opened || !mount.process->alive()) continue;
      bool closed = false;
      spawn(*mount.process, "close", [this, &mount, &closed] {
        if (!mount.ended_at && below(2) == 0) {
          const int announced = mount.announced;
          kv::Mutation mutation;
          mutation.writes = {kv::put(mount.options.ended_key, "self")};
          const auto done = mount.session->commit_blocking(std::move(mutation));
          if (!done || !done->succeeded) fail("a clean close was refused");
          if (mount.announced != announced) fail("a clean close was announced as a disproof");
          kv::Mutation late;
          late.writes = {kv::put(watched_key("late"), mount.tag())};
          if (mount.session->commit_blocking(std::move(late))) fail("a change after the close");
        }
        delete mount.session;
        closed = true;
        wake(this);
      });
      wait_until(this, "the close of a session", [&closed] { return closed; });
    }
    sleep_ns(1'000 * kNsPerMs);
  }

  const std::int64_t latency_ns_max_;
  const std::shared_ptr<kv::MemServer> server_;
  Promises promises_;
  SessionWork work_{promises_, *server_};
  std::vector<std::unique_ptr<SessionMount>> mounts_;
  Observer observer_;
  SimStore outside_;
};

}  // namespace

void run_session(std::uint64_t /*seed*/) { (new SessionRun)->run(); }

}  // namespace symnas::sim

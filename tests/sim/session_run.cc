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
#include <set>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "common/kv/session.h"
#include "tests/sim/runtime/simulation.h"
#include "tests/sim/session_promises.h"
#include "tests/sim/sim_store.h"
#include "tests/sim/simulations.h"

namespace symnas::sim {

namespace {

using kv::Mutation;
namespace keys = kv::keys;

constexpr FsId kFs{7};
constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kCounters = 3;
constexpr std::uint64_t kScratchKeys = 5;
constexpr std::uint64_t kFillerKeys = 150;  // never written: they evict other keys from the cache
constexpr std::int64_t kOpenMs = 30'000;
constexpr std::int64_t kPatienceNs = 300'000 * kNsPerMs;

std::string watched_key(const std::string& name) { return keys::filesystem(kFs) + "w" + name; }
std::string counter_key(std::uint64_t i) { return watched_key("I" + std::to_string(i)); }
std::string log_key() { return watched_key("J"); }
std::string scratch_key(std::uint64_t i) { return watched_key("M" + std::to_string(i)); }
std::string scratch_prefix() { return watched_key("M"); }

std::int64_t number_in(const std::optional<std::string>& value) {
  return value ? std::stoll(*value) : 0;
}

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
      spawn(*mount.process, "worker", [this, &mount] { work(mount); });
    }
  }

  void on_ended(SessionMount& mount, const Error& error) {
    trace("ended: %s", error.message.c_str());
    if (++mount.announced > 1) fail("the end was announced twice");
    if (!mount.ended_at) fail("a session ended that nobody had ended: " + error.message);
  }

  // --- work
  void work(SessionMount& mount) {
    const std::uint64_t operations = 5 + below(25);
    std::map<std::string, Revision> seen;
    const bool mostly_reads = mount.readers || below(4) == 0;
    for (std::uint64_t i = 0; i < operations; ++i) {
      bool go_on = true;
      switch (mostly_reads && below(4) > 0 ? 10 + below(3) : below(12)) {
        case 0: go_on = put_unique(mount); break;
        case 1: go_on = scratch(mount); break;
        case 2:
        case 3: go_on = append(mount); break;
        case 4: go_on = strict_read(mount); break;
        case 5: go_on = strict_range(mount); break;
        case 6: go_on = together(mount); break;
        case 7: go_on = beside(mount, seen); break;
        case 10: go_on = churn(mount); break;
        case 11: go_on = look(mount, seen); break;
        case 12: go_on = strict_read(mount); break;
        default: go_on = increment(mount, seen); break;
      }
      if (!go_on) break;
      if (!mostly_reads && below(8) == 0) sleep_ns(static_cast<std::int64_t>(below(5 * kNsPerMs)));
    }
    --mount.working;
    wake(this);
  }

  // Whether the thread goes on after an error. A change that was sent and not refused is uncertain.
  static bool refused(const Error& error) { return error.code == ErrorCode::kNoSpace; }

  bool increment(SessionMount& mount, std::map<std::string, Revision>& seen) {
    const std::string key = counter_key(below(kCounters));
    for (;;) {
      const auto value = mount.session->read(key);
      if (!value) return false;
      if (value->value) {
        if (value->mod_revision < seen[key]) fail("a read went back");
        seen[key] = value->mod_revision;
      }
      Mutation mutation;
      mutation.compares = {
          kv::mod_revision_is(key, value->value ? value->mod_revision : Revision(0))};
      const std::int64_t next = number_in(value->value) + 1;
      mutation.writes = {kv::put(key, std::to_string(next) + mount.tag())};
      if (below(2) == 0) mutation.merged_puts = {kv::put(watched_key("Tdir"), mount.tag())};
      ++promises_.uncertain[key];
      const auto done = mount.session->commit_blocking(std::move(mutation));
      if (!done && !refused(done.error())) return false;
      --promises_.uncertain[key];
      if (!done) return true;
      if (!done->succeeded) {
        check_conflict(key, value->value ? value->mod_revision : Revision(0));
        continue;
      }
      ++promises_.counted[key];
      promises_.acknowledged.emplace_back(key, done->revision);
      const auto own = mount.session->peek(key);
      if (own && number_in(own->value) < next) {
        fail("an own change of revision " + std::to_string(done->revision.value()) +
             " is followed by the value of revision " + std::to_string(own->mod_revision.value()) +
             ": " + own->value.value_or("nothing"));
      }
      seen[key] = done->revision;
      return true;
    }
  }

  bool append(SessionMount& mount) {
    const std::string token = "t" + std::to_string(promises_.next_unique++) + mount.tag();
    for (;;) {
      const auto value = mount.session->read(log_key());
      if (!value) return false;
      const Revision revision = value->value ? value->mod_revision : Revision(0);
      Mutation mutation;
      mutation.compares = {kv::mod_revision_is(log_key(), revision)};
      mutation.writes = {kv::put(log_key(), value->value.value_or("") + token)};
      promises_.maybe_logged.insert(token);
      const auto done = mount.session->commit_blocking(std::move(mutation));
      if (!done && !refused(done.error())) return false;
      promises_.maybe_logged.erase(token);
      if (!done) {
        promises_.never_logged.insert(token);
        return true;
      }
      if (done->succeeded) {
        promises_.logged.insert(token);
        promises_.acknowledged.emplace_back(log_key(), done->revision);
        return true;
      }
      check_conflict(log_key(), revision);
    }
  }

  bool put_unique(SessionMount& mount) {
    const std::string key = watched_key("U" + std::to_string(promises_.next_unique++));
    Mutation mutation;
    mutation.writes = {kv::put(key, "x" + mount.tag())};
    promises_.maybe_put.insert(key);
    const auto done = mount.session->commit_blocking(std::move(mutation));
    if (!done && !refused(done.error())) return false;
    promises_.maybe_put.erase(key);
    if (!done) {
      promises_.never_put.insert(key);
      return true;
    }
    if (!done->succeeded) fail("a put without compares conflicts with nothing");
    promises_.put_once[key] = done->revision;
    promises_.acknowledged.emplace_back(key, done->revision);
    return true;
  }

  // Two keys in one operation: both or none (check_store compares their versions).
  bool together(SessionMount& mount) {
    const auto left = mount.session->read(watched_key("P1"));
    if (!left) return false;
    const Revision revision = left->value ? left->mod_revision : Revision(0);
    Mutation mutation;
    mutation.compares = {kv::mod_revision_is(watched_key("P1"), revision)};
    const std::string value = std::to_string(promises_.next_unique++) + mount.tag();
    mutation.writes = {kv::put(watched_key("P1"), value), kv::put(watched_key("P2"), value)};
    const auto done = mount.session->commit_blocking(std::move(mutation));
    if (!done) return refused(done.error());
    if (!done->succeeded) check_conflict(watched_key("P1"), revision);
    return true;
  }

  // Compares a key that it does not write, sometimes with an old revision.
  bool beside(SessionMount& mount, const std::map<std::string, Revision>& seen) {
    const std::string key = counter_key(below(kCounters));
    const auto old = seen.find(key);
    Mutation mutation;
    mutation.compares = {kv::mod_revision_is(key, old == seen.end() ? Revision(0) : old->second)};
    mutation.writes = {kv::put(watched_key("B"), "b" + mount.tag())};
    const auto done = mount.session->commit_blocking(std::move(mutation));
    return done || refused(done.error());
  }

  bool churn(SessionMount& mount) {
    std::vector<std::string> filler;
    for (int i = 0; i < 20; ++i) {
      filler.push_back(watched_key("F" + std::to_string(below(kFillerKeys))));
    }
    return mount.session->read(filler).has_value();
  }

  // Not strict: the value may be older than the store's, but never older than what this thread has
  // seen.
  bool look(SessionMount& mount, std::map<std::string, Revision>& seen) {
    const std::string key = counter_key(below(kCounters));
    const auto value = mount.session->read(key);
    if (!value) return false;
    if (value->mod_revision < seen[key]) fail("a read went back");
    if (value->value) seen[key] = value->mod_revision;
    return true;
  }

  bool scratch(SessionMount& mount) {
    const std::string key = scratch_key(below(kScratchKeys));
    const auto before = mount.session->read(key);
    if (!before) return false;
    Mutation mutation;
    bool deletes_all = false;
    switch (below(4)) {
      case 0:
        mutation.writes = {kv::erase_range(kv::prefix_range(scratch_prefix()))};
        deletes_all = true;
        break;
      case 1: mutation.writes = {kv::erase(key)}; break;
      default: mutation.writes = {kv::put(key, "s" + mount.tag())};
    }
    const auto done = mount.session->commit_blocking(std::move(mutation));
    if (!done) return refused(done.error());
    if (!done->succeeded) fail("a change without compares conflicts with nothing");
    for (std::uint64_t i = 0; deletes_all && i < kScratchKeys; ++i) {
      const auto seen = mount.session->peek(scratch_key(i));
      if (seen && seen->value && seen->mod_revision < done->revision) fail("deleted, but cached");
    }
    return true;
  }

  bool strict_read(SessionMount& mount) {
    const std::string key = counter_key(below(kCounters));
    const std::int64_t floor = promises_.counted[key];
    if (!mount.session->barrier()) return false;
    const auto value = mount.session->read(key);
    if (!value) return false;
    if (number_in(value->value) < floor) fail("a strict read missed an acknowledged change");
    return true;
  }
  bool strict_range(SessionMount& mount) {
    const std::string key = counter_key(below(kCounters));
    const std::int64_t floor = promises_.counted[key];
    const auto read = mount.session->range(kv::single_key(key), 0);
    if (!read) return false;
    const std::int64_t now = read->kvs.empty() ? 0 : std::stoll(read->kvs.front().value);
    if (now < floor) fail("a range read missed an acknowledged change");
    return true;
  }

  void check_conflict(const std::string& key, Revision compared) {
    const auto now = stored(key);
    if ((now ? now->mod_revision : Revision(0)) == compared) {
      fail("a conflict was answered, but the compared key has not changed");
    }
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
    for (auto& kv : server_->dump()) {
      if (kv.key == key) return kv;
    }
    return std::nullopt;
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
          Mutation mutation;
          mutation.writes = {kv::put(mount.options.ended_key, "self")};
          const auto done = mount.session->commit_blocking(std::move(mutation));
          if (!done || !done->succeeded) fail("a clean close was refused");
          if (mount.announced != announced) fail("a clean close was announced as a disproof");
          Mutation late;
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
  std::vector<std::unique_ptr<SessionMount>> mounts_;
  Observer observer_;
  SimStore outside_;
};

}  // namespace

void run_session(std::uint64_t /*seed*/) { (new SessionRun)->run(); }

}  // namespace symnas::sim

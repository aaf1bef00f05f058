#include "vnfsd/plans/change.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/uuid.h"
#include "common/env/clock.h"
#include "common/kv/keys.h"
#include "common/kv/limits.h"
#include "vnfsd/plans/limits.h"

namespace symnas::vnfsd {
namespace {

enum class Outcome { kDone, kOvertaken };

bool was_recorded(const ClusterView& view, const std::string& change_id) {
  for (const std::string& id : view.cluster.record.recent_changes()) {
    if (id == change_id) return true;
  }
  return false;
}

tl::unexpected<Error> unknown(const Error& why) {
  return fail(ErrorCode::kUnknownOutcome,
              fmt::format("etcd did not say whether the change was made: {} (look at the object "
                          "with ls and repeat the command if needed)",
                          why.message));
}

// Commits one planned transaction exactly once: re-sending is safe, because its compare of the
// cluster record holds at most once; whether it was ours is told by the id it leaves there.
Result<Outcome> commit(kv::Store& store, const kv::Txn& txn, const std::string& change_id) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(kChangeDeadlineMs);
  bool maybe_sent = false;
  for (;;) {
    const auto result = kv::txn_blocking(store, txn, kv::kTryTimeoutMs);
    if (result && result->succeeded) return Outcome::kDone;
    if (result && !maybe_sent) return Outcome::kOvertaken;
    const bool full = !result && result.error().code == ErrorCode::kNoSpace;
    if (result || full) {
      const auto now = read_view(store, kChangeDeadlineMs);
      if (!now) return unknown(now.error());
      if (was_recorded(*now, change_id)) return Outcome::kDone;
      if (result) return Outcome::kOvertaken;
      // This copy was refused; an earlier one may still come to be.
      return maybe_sent ? unknown(result.error()) : tl::unexpected<Error>(result.error());
    }
    const ErrorCode code = result.error().code;
    if (code != ErrorCode::kUnavailable && code != ErrorCode::kUnknownOutcome) {
      return tl::unexpected<Error>(result.error());
    }
    if (code == ErrorCode::kUnknownOutcome) maybe_sent = true;
    if (std::chrono::steady_clock::now() >= deadline) {
      return maybe_sent ? unknown(result.error()) : tl::unexpected<Error>(result.error());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kv::kRetryPauseMs));
  }
}

void add_events(Change& change, const EventSink& events) {
  const auto is_order = [&](const kv::Op& op) {
    return op.kind == kv::Op::Kind::kPut && op.range.key.starts_with(kv::keys::kMoves);
  };
  const bool ordered = std::any_of(change.txn.success.begin(), change.txn.success.end(), is_order);
  const std::int64_t now_ns = env::system_clock().wall_ns();
  std::size_t count = 0;
  for (const std::string& line : lines_of(change.what)) {
    if (++count > kEventsPerChangeMax) return;
    auto op = events(make_event(ordered ? event::kMoveOrdered : event::kChange, line, now_ns));
    if (op) change.txn.success.push_back(std::move(*op));
  }
}

}  // namespace

std::vector<std::string> lines_of(const std::string& what) {
  std::vector<std::string> lines;
  std::istringstream stream(what);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

kv::Txn guarded(const ClusterView& view, Change change, const std::string& change_id) {
  records::ClusterRecord cluster = view.cluster.record;
  cluster.set_config_version(cluster.config_version() + 1);
  if (change.level != 0) cluster.set_level(change.level);
  if (change.decider) cluster.set_decider(*change.decider);
  auto& recent = *cluster.mutable_recent_changes();
  recent.Add(std::string(change_id));
  if (recent.size() > kRecentChangesMax)
    recent.DeleteSubrange(0, recent.size() - kRecentChangesMax);
  kv::Txn txn = std::move(change.txn);
  txn.compares.push_back(kv::mod_revision_is(kv::keys::kCluster, view.cluster.mod_revision));
  txn.success.push_back(kv::put(kv::keys::kCluster, cluster.SerializeAsString()));
  return txn;
}

Result<std::string> make_change(kv::Store& store, const Planner& planner, Mode mode,
                                const EventSink& events) {
  for (int attempt = 0; attempt < kChangeTriesMax; ++attempt) {
    SYMNAS_ASSIGN(const ClusterView view, read_view(store, kChangeDeadlineMs));
    if (view.cluster.mod_revision == Revision{}) {
      return fail(ErrorCode::kUnavailable,
                  "cluster: etcd holds no cluster record yet (vnfsd makes it "
                  "at its first start: wait and repeat)");
    }
    SYMNAS_ASSIGN(Change change, planner(view));
    std::string what = change.what;
    if (mode == Mode::kDryRun) return what;
    if (events) add_events(change, events);
    const Uuid id = Uuid::generate();
    const std::string change_id(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
    SYMNAS_ASSIGN(const Outcome outcome,
                  commit(store, guarded(view, std::move(change), change_id), change_id));
    if (outcome == Outcome::kDone) {
      for (const std::string& line : lines_of(what)) log::info("{}", line);
      return what;
    }
  }
  return fail(ErrorCode::kConflict,
              fmt::format("cluster: others changed the configuration {} times in a row while this "
                          "change was being made (repeat the command)",
                          kChangeTriesMax));
}

kv::Compare unchanged_since(const ClusterView& view, const std::string& prefix) {
  kv::Compare compare;
  compare.range = kv::prefix_range(prefix);
  compare.target = kv::Compare::Target::kModRevision;
  compare.relation = kv::Compare::Relation::kLess;
  compare.number = view.revision.value() + 1;
  return compare;
}

Result<std::uint64_t> take_from_counter(const ClusterView& view, const std::string& counter_key,
                                        std::uint64_t max, kv::Txn& txn, std::uint64_t count) {
  const auto it = view.counters.find(counter_key.substr(kv::keys::kCounters.size()));
  const std::uint64_t value = it == view.counters.end() ? 1 : it->second.record;
  const Revision revision = it == view.counters.end() ? Revision{} : it->second.mod_revision;
  if (count > max || value > max - count + 1) {
    return fail(ErrorCode::kNoSpace,
                fmt::format("counter {}: all values up to {} have been used", counter_key, max));
  }
  txn.compares.push_back(kv::mod_revision_is(counter_key, revision));
  txn.success.push_back(kv::put(counter_key, fmt::to_string(value + count)));
  return value;
}

}  // namespace symnas::vnfsd

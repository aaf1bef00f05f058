// Agent: the moves that it orders for its own VNFSs (drains, failback), so that each VNFS has one
// head that decides on it. What is to be done is planned in vnfsd/plans/placement.h.
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "cvm/volume.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/plans/placement.h"

namespace symnas::vnfsd::daemon {
namespace {

std::set<std::string> bytes_of(const std::set<std::string>& uuids) {
  std::set<std::string> out;
  for (const std::string& text : uuids) {
    if (const auto uuid = Uuid::parse(text)) out.insert(cvm::uuid_to_bytes(*uuid));
  }
  return out;
}

}  // namespace

std::set<std::string> Agent::worse_networks() {
  const std::scoped_lock lock(mutex_);
  return worse_networks_;
}

std::string Agent::why_ill(const std::string& network) const {
  const std::scoped_lock lock(mutex_);
  const auto found = ill_networks_.find(network);
  return found == ill_networks_.end() ? "" : found->second;
}

// What fails is done again with the next look at the records.
void Agent::order_moves(const ClusterView& view, std::map<Revision, std::int64_t> ages) {
  const std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
  const Observed observed{settling_.look(now_ms, view, config_.failback.settle_s * 1000),
                          clock_.wall_ns(),
                          config_.head_name,
                          bytes_of(canaries_.worse()),
                          std::move(ages),
                          worse_networks()};
  moving_ = has_own_moves(view, config_.head_name);
  if (!plan_own_moves(view, config_.head_name, observed)) return;  // nothing is to be moved
  moving_ = true;
  const auto done = commit(
      [&](const ClusterView& now) { return plan_own_moves(now, config_.head_name, observed); },
      Mode::kCommit);
  if (!done && done.error().code != ErrorCode::kNotFound)
    log::warn("head {}: its moves: {}", config_.head_name, done.error().message);
}

void Agent::say_why_not(const std::string& vnfs, const Stored<records::MoveRecord>& move,
                        const std::string& why) {
  if (move.record.refusal() == why) return;
  log::error("vnfs {}: is not taken over: {}", vnfs, why);
  records::MoveRecord refused = move.record;
  refused.set_refusal(why);
  const std::string key = kv::keys::kMoves + vnfs;
  kv::Txn txn;
  txn.compares.push_back(kv::mod_revision_is(key, move.mod_revision));
  txn.success.push_back(kv::put(key, refused.SerializeAsString()));
  add_event(txn, make_event(event::kMoveRefused,
                            fmt::format("vnfs {}: {} does not take it over: {}", vnfs,
                                        config_.head_name, why),
                            clock_.wall_ns()));
  const auto done = kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs);
  if (!done) log::warn("vnfs {}: refusing it: {}", vnfs, done.error().message);
}

}  // namespace symnas::vnfsd::daemon

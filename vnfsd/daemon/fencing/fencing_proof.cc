// Fencing: from the proof on: its mounts end, and who owned what they served is erased.
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "fsal_cluster/types/limits.h"
#include "vnfsd/daemon/fencing/fence_steps.h"
#include "vnfsd/daemon/fencing/fencing.h"
#include "vnfsd/daemon/fencing/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/luns/registrations.h"
#include "vnfsd/instance/crash_point.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/plans/change.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::daemon {
namespace {

static_assert(kLastAnswersMs >=
              (fs::kGateWindowNs / 1'000'000 + instance::kHideAfterMs + instance::kPulseLookMs) /
                  10 * 11);

bool may_be_done_again(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kConflict ||
         kv::maybe_executed(error);
}

}  // namespace

Status Fencing::note_proof(const Victim& victim, const CutOff& done) {
  for (StepTries tries; tries.next();) {
    SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
    SYMNAS_ASSIGN(FencePlan plan, plan_fence_proof(view, head_.boot(), victim, done.cuts,
                                                   done.proof, head_.clock.wall_ns()));
    if (!plan.txn) return {};  // by an earlier try
    if (done.luns) {
      if (*done.luns != identified_luns(view) || done.luns->size() != view.luns.size()) {
        const Error error{ErrorCode::kConflict,
                          "the cluster has other LUNs now than those it was cut off from"};
        note_failed_fence(victim, error);
        return fail(error.code, fmt::format("head {}: not fenced: {} (repeat the command)",
                                            victim.head, error.message));
      }
      plan.txn->compares.push_back(unchanged_since(view, kv::keys::kLuns));
    }
    if (put_fence(plan.record, std::move(*plan.txn)) == PutFence::kDone) return {};
  }
  return stands_still(victim.head);
}

Result<fs::LifeSigns> Fencing::life_signs(const ClusterView& view, const std::string& head) const {
  std::vector<std::pair<VnfsId, Epoch>> vnfses;
  for (const auto& [vnfs, owner] : owned_by(view, head))
    vnfses.emplace_back(VnfsId(owner.record.vnfs_id()), Epoch(owner.record.epoch()));
  return fs::look_at_life_signs(head_.store, head_.clock, vnfses);
}

// A head that has lost its LUNs only may be cut off from etcd as well: until its last sign of life
// is too old it answers its clients from memory, and what others change meanwhile it would not
// show. Since the proof is written no heartbeat of it succeeds.
Status Fencing::wait_for_last_answers(const std::string& head, const fs::LifeSigns* before) const {
  for (StepTries tries; tries.next();) {
    SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
    const auto after = life_signs(view, head);
    if (!after && !may_be_done_again(after.error())) return tl::unexpected<Error>(after.error());
    if (!after) continue;
    const auto silent_ns = fs::silent_from_ns(before, *after);
    const std::int64_t pause_ms =
        silent_ns ? (*silent_ns - head_.clock.mono_ns()) / 1'000'000 + 1 : last_answers_ms_;
    if (pause_ms <= 0) return {};
    log::info("head {}: its mounts end in {} ms, when nothing of it may answer any more", head,
              pause_ms);
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    return {};
  }
  return stands_still(head);
}

Status Fencing::end_mounts(const std::string& head, const Owned& owned, const fs::EndProof& proof,
                           EndedMounts& ended) {
  for (const auto& [vnfs, owner] : owned) {
    SYMNAS_ASSIGN(const auto mounts,
                  fs::end_mounts_of(head_.store, head_.clock, VnfsId(owner.record.vnfs_id()),
                                    Epoch(owner.record.epoch()), proof));
    for (const auto& mount : mounts) {
      log::info("head {}: fenced: ended {} of filesystem {}", head, fs::describe(mount.mount),
                mount.filesystem);
    }
    ended.count += mounts.size();
    ended.epochs[vnfs] = owner.record.epoch();
  }
  return {};
}

void Fencing::note_fenced(const records::FenceRecord& fence, const EndedMounts& ended) {
  for (const auto& [vnfs, epoch] : ended.epochs) {
    records::Departure departure;
    departure.set_epoch(epoch);
    departure.set_cause(records::DEPARTURE_FENCED);
    if (fence.silent_since_ns() != 0)
      add_step(*departure.mutable_steps(), step::kSilent, fence.silent_since_ns());
    add_step(*departure.mutable_steps(), step::kFencing, fence.began_ns());
    add_step(*departure.mutable_steps(), step::kFenced, fence.proven_ns());
    add_step(*departure.mutable_steps(), step::kProved, head_.clock.wall_ns());
    history_.note_departure(vnfs, departure);
  }
}

// The VNFSs that the head owns are read after the pause: until the abort frees its I/O the head may
// be giving up a VNFS that it was asked for, with proof of its own, and does so then.
Result<std::string> Fencing::finish_fence(const Victim& victim, const fs::LifeSigns* before) {
  const std::string& head = victim.head;
  EndedMounts ended;
  SYMNAS_ASSIGN(const ClusterView seen, read_view(head_.store, kStoreDeadlineMs));
  SYMNAS_ASSIGN(const FenceEnd begun, plan_fence_end(seen, victim));
  if (begun.plan.record.cuts() != "power") SYMNAS_TRY(wait_for_last_answers(head, before));
  for (StepTries tries; tries.next();) {
    SYMNAS_ASSIGN(const ClusterView view, read_view(head_.store, kStoreDeadlineMs));
    SYMNAS_ASSIGN(FenceEnd end, plan_fence_end(view, victim));
    const records::FenceRecord& record = end.plan.record;
    if (end.plan.txn) {
      const Status done =
          end_mounts(head, end.owned, {head_.config.head_name, record.proof()}, ended);
      if (!done && !may_be_done_again(done.error())) return tl::unexpected<Error>(done.error());
      if (!done) continue;
      crash_point("mounts ended", head);
      if (put_fence(record, std::move(*end.plan.txn)) != PutFence::kDone) continue;
    }
    crash_point("fence done", head);
    note_fenced(record, ended);
    std::string what = fmt::format("head {}: fenced, {} mounts of {} VNFSs ended: {}", head,
                                   ended.count, ended.epochs.size(), record.proof());
    log::info("{}", what);
    return what;
  }
  return stands_still(head);
}

}  // namespace symnas::vnfsd::daemon

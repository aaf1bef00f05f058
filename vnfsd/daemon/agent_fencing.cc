// Agent: fencing another head. Order (INV-8): fence record -> proof -> owner records disproved ->
// end records -> owner records and the fence done. Whatever ends in between, a repetition goes on.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "fsal_cluster/limits.h"
#include "fsal_cluster/state/mount_end.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/fencing/limits.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/instance/crash_point.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::daemon {
namespace {

static_assert(kLastAnswersMs >=
              (fs::kGateWindowNs / 1'000'000 + instance::kHideAfterMs + instance::kPulseLookMs) /
                  10 * 11);

std::string fence_key(const std::string& head) { return kv::keys::kFences + head; }

// The VNFSs that the head owns, with their owner records.
std::vector<std::pair<std::string, Stored<records::OwnerRecord>>> owned_by(
    const ClusterView& view, const std::string& head) {
  std::vector<std::pair<std::string, Stored<records::OwnerRecord>>> owned;
  for (const auto& [vnfs, owner] : view.owners) {
    if (owner.record.head() == head) owned.emplace_back(vnfs, owner);
  }
  return owned;
}

tl::unexpected<Error> has_just_booted(const std::string& head) {
  return fail(
      ErrorCode::kConflict,
      fmt::format("head {}: has just booted (repeat the command if that boot is to be fenced)",
                  head));
}

tl::unexpected<Error> has_come_back(const std::string& head) {
  return fail(
      ErrorCode::kConflict,
      fmt::format("head {}: it has come back meanwhile, and ends its old mounts itself", head));
}

tl::unexpected<Error> stands_still(const std::string& head) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("head {}: its fence stands still: its records change all the time, or "
                          "etcd does not say what became of it (repeat the command)",
                          head));
}

bool may_be_done_again(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kConflict ||
         kv::maybe_executed(error);
}

// The tries of one step: each reads what the records say then.
class StepTries {
 public:
  bool next() {
    if (std::exchange(first_, false)) return true;
    if (Clock::now() >= end_) return false;
    std::this_thread::sleep_for(
        std::chrono::milliseconds(kFenceStepPauseMs / 2 + random_() % kFenceStepPauseMs));
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end_ = Clock::now() + std::chrono::milliseconds(kFenceStepMs);
  std::minstd_rand random_{std::random_device{}()};
  bool first_ = true;
};

// Nothing for what is only a step.
std::optional<records::EventRecord> event_of(const std::string& head,
                                             const records::FenceRecord& fence,
                                             std::int64_t now_ns) {
  const auto event = [&](std::string_view kind, const std::string& what) {
    return make_event(kind, fmt::format("head {}: {}", head, what), now_ns);
  };
  switch (fence.state()) {
    case records::FENCE_RUNNING:
      return event(event::kFenceBegun, fmt::format("{} fences it", fence.by()));
    case records::FENCE_FAILED:
      return event(event::kFenceFailed,
                   fmt::format("{} could not fence it: {}", fence.by(), fence.error()));
    case records::FENCE_DONE:
      return event(event::kFenced, fmt::format("fenced by {}: {}", fence.by(), fence.proof()));
    default: return std::nullopt;
  }
}

}  // namespace

Result<std::string> Agent::fence_head(const std::string& name, Mode mode) {
  const std::scoped_lock fencing(fence_mutex_);
  return fence_locked(name, nullptr, mode);
}

// An administrator's fence may take minutes: what was seen before it is worth nothing afterwards.
Result<std::string> Agent::fence_silent_head(const std::string& name, const FenceCause& cause) {
  const std::unique_lock fencing(fence_mutex_, std::try_to_lock);
  if (!fencing) {
    return fail(ErrorCode::kBusy, fmt::format("head {}: not fenced now: {} has another one fenced",
                                              name, config_.head_name));
  }
  return fence_locked(name, &cause, Mode::kCommit);
}

Result<std::string> Agent::fence_locked(const std::string& name, const FenceCause* cause,
                                        Mode mode) {
  if (!can_fence()) {
    return fail(ErrorCode::kNotSupported,
                fmt::format("head {}: neither reservations nor a fence agent are configured on {}, "
                            "so nothing can prove that it does nothing any more ([fence] in "
                            "vnfsd.toml)",
                            name, config_.head_name));
  }
  if (name == config_.head_name) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("head {}: is this head itself (fence it from another one)", name));
  }
  SYMNAS_ASSIGN(const ClusterView view, this->view());
  SYMNAS_ASSIGN(const auto* victim, find(view.heads, "head", name));
  if (cause != nullptr && victim->record.incarnation() != cause->incarnation)
    return has_just_booted(name);
  if (const Status able = check_can_fence(view); !able) {
    return fail(able.error().code,
                fmt::format("head {}: not fenced: {}", name, able.error().message));
  }
  if (mode == Mode::kDryRun) return fmt::format("head {}: would be fenced", name);
  SYMNAS_ASSIGN(const records::FenceRecord fence,
                begin_fence(name, victim->record.incarnation(), cause));
  crash_point("fencing", name);
  if (fence.state() == records::FENCE_DONE)
    return fmt::format("head {}: is fenced already: {}", name, fence.proof());
  const std::string& incarnation = victim->record.incarnation();
  if (fence.state() == records::FENCE_PROVEN) return finish_fence(name, incarnation);
  // To write the record may have taken seconds: whoever was only away for a moment is not cut off.
  if (cause != nullptr && cause->unheard && heard_heads(view).contains(name)) {
    const Error error{ErrorCode::kConflict, "it is heard again"};
    note_failed_fence(name, incarnation, error);
    return fail(error.code, fmt::format("head {}: not fenced: {}", name, error.message));
  }
  const auto done = cut_off(name, incarnation);
  if (!done) {
    note_failed_fence(name, incarnation, done.error());
    return fail(done.error().code,
                fmt::format("head {}: not fenced: {} (its mounts have not ended, and what they "
                            "hold stays blocked: look at that and repeat the command)",
                            name, done.error().message));
  }
  log::warn("head {}: cut off: {}", name, done->proof);
  crash_point("cut off", name);
  SYMNAS_TRY(note_proof(name, incarnation, *done));
  crash_point("fence proven", name);
  return finish_fence(name, incarnation);
}

Result<Stored<records::FenceRecord>> Agent::my_fence(const ClusterView& view,
                                                     const std::string& head,
                                                     const std::string& incarnation) const {
  const auto fence = view.fences.find(head);
  if (fence != view.fences.end() && fence->second.record.by() == config_.head_name &&
      fence->second.record.incarnation() == incarnation) {
    return fence->second;
  }
  return fail(ErrorCode::kConflict,
              fmt::format("head {}: it has come back, or another head fences it now (look at "
                          "symnas status)",
                          head));
}

// kConflict: it has booted since, or its fence is not this head's any more.
Status Agent::check_still_fenced(const std::string& head, const std::string& incarnation) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
  SYMNAS_ASSIGN(const auto fence, my_fence(view, head, incarnation));
  SYMNAS_ASSIGN(const auto* victim, find(view.heads, "head", head));
  if (victim->record.incarnation() != incarnation) return has_just_booted(head);
  if (fence.record.state() != records::FENCE_RUNNING) return has_come_back(head);
  return {};
}

Agent::PutFence Agent::put_fence(const std::string& head, const records::FenceRecord& record,
                                 kv::Txn txn) {
  txn.success.push_back(kv::put(fence_key(head), record.SerializeAsString()));
  if (auto event = event_of(head, record, clock_.wall_ns())) add_event(txn, std::move(*event));
  const auto done = kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs);
  if (done) return done->succeeded ? PutFence::kDone : PutFence::kConflict;
  log::warn("head {}: its fence record: {}", head, done.error().message);
  return PutFence::kUnclear;
}

// From here on the head's incarnation claims nothing. The head may be changing its own record.
Result<records::FenceRecord> Agent::begin_fence(const std::string& head,
                                                const std::string& incarnation,
                                                const FenceCause* cause) {
  records::FenceRecord record;
  record.set_head(head);
  record.set_incarnation(incarnation);
  record.set_by(config_.head_name);
  record.set_began_ns(clock_.wall_ns());
  record.set_state(records::FENCE_RUNNING);
  if (cause != nullptr) record.set_silent_since_ns(cause->silent_since_ns);
  record.set_agent_timeout_s(fence_timeout_s(config_.fence));
  bool unclear = false;
  for (StepTries tries; tries.next();) {
    SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
    SYMNAS_ASSIGN(const auto* victim, find(view.heads, "head", head));
    if (victim->record.incarnation() != incarnation) return has_just_booted(head);
    const auto old = view.fences.find(head);
    if (old != view.fences.end() && old->second.record.incarnation() == incarnation) {
      const records::FenceRecord& now = old->second.record;
      const bool ours = now.by() == record.by() && now.began_ns() == record.began_ns();
      if (now.state() == records::FENCE_DONE || now.state() == records::FENCE_PROVEN ||
          (ours && now.state() == records::FENCE_RUNNING)) {
        return now;
      }
    }
    SYMNAS_TRY(check_not_removed(view));
    // Who is being fenced itself fences nobody.
    const auto own = view.fences.find(config_.head_name);
    if (own != view.fences.end() && forbids_claims(own->second.record, incarnation_)) {
      return fenced_here(own->second.record);
    }
    const auto revision_of = [&](const std::string& of) {
      const auto fence = view.fences.find(of);
      return fence == view.fences.end() ? Revision{} : fence->second.mod_revision;
    };
    kv::Txn txn;
    txn.compares = {
        kv::mod_revision_is(kv::keys::kHeads + head, victim->mod_revision),
        kv::mod_revision_is(fence_key(head), cause != nullptr ? cause->fence : revision_of(head)),
        kv::mod_revision_is(fence_key(config_.head_name), revision_of(config_.head_name)),
        kv::key_absent(kv::keys::kRemoved + config_.head_name)};
    if (cause != nullptr && !cause->silent_key.empty())
      txn.compares.push_back(kv::mod_revision_is(cause->silent_key, cause->silent_revision));
    const PutFence put = put_fence(head, record, std::move(txn));
    if (put == PutFence::kDone) {
      log::warn("head {}: fencing its incarnation {}", head, incarnation);
      return record;
    }
    // What was seen is no more; but an earlier try may be the reason.
    if (put == PutFence::kConflict && cause != nullptr && !std::exchange(unclear, false)) {
      return fail(ErrorCode::kConflict,
                  fmt::format("head {}: its records changed: it is left alone", head));
    }
    unclear = unclear || put == PutFence::kUnclear;
  }
  return stands_still(head);
}

void Agent::note_failed_fence(const std::string& head, const std::string& incarnation,
                              const Error& error) {
  log::error("head {}: not fenced: {}", head, error.message);
  for (StepTries tries; tries.next();) {
    // The record keeps saying that a fence runs: as safe, and it is taken over or repeated.
    const auto view = read_view(store_, kStoreDeadlineMs);
    if (!view) return;
    auto fence = my_fence(*view, head, incarnation);
    if (!fence || fence->record.state() != records::FENCE_RUNNING) return;
    fence->record.set_state(records::FENCE_FAILED);
    fence->record.set_error(error.message);
    kv::Txn txn;
    txn.compares = {kv::mod_revision_is(fence_key(head), fence->mod_revision)};
    if (put_fence(head, fence->record, std::move(txn)) == PutFence::kDone) return;
  }
}

// Whoever began it finds that it is not his any more.
void Agent::give_up_fence(const ClusterView& view, const std::string& head) {
  const Stored<records::FenceRecord>& fence = view.fences.at(head);
  records::FenceRecord record = fence.record;
  record.set_state(records::FENCE_FAILED);
  record.set_by(config_.head_name);
  record.set_error(
      fmt::format("{} did not go on with it, nothing is proven, and the head is heard again",
                  fence.record.by()));
  kv::Txn txn;
  txn.compares = {kv::mod_revision_is(fence_key(head), fence.mod_revision)};
  if (put_fence(head, record, std::move(txn)) == PutFence::kDone)
    log::warn("head {}: not fenced: {}", head, record.error());
}

// Also puts the head's owner records again: nothing that compares them commits any more, so no
// instance of it makes a mount behind the end records. The head may be giving them up just now.
Status Agent::note_proof(const std::string& head, const std::string& incarnation,
                         const CutOff& done) {
  for (StepTries tries; tries.next();) {
    SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
    SYMNAS_ASSIGN(const auto fence, my_fence(view, head, incarnation));
    records::FenceRecord record = fence.record;
    if (record.state() == records::FENCE_PROVEN) return {};  // by an earlier try
    if (record.state() != records::FENCE_RUNNING) return has_come_back(head);
    kv::Txn txn;
    if (done.luns) {
      if (*done.luns != identified_luns(view) || done.luns->size() != view.luns.size()) {
        const Error error{ErrorCode::kConflict,
                          "the cluster has other LUNs now than those it was cut off from"};
        note_failed_fence(head, incarnation, error);
        return fail(error.code, fmt::format("head {}: not fenced: {} (repeat the command)", head,
                                            error.message));
      }
      txn.compares.push_back(unchanged_since(view, kv::keys::kLuns));
    }
    record.set_state(records::FENCE_PROVEN);
    record.set_proven_ns(clock_.wall_ns());
    record.set_cuts(done.cuts);
    record.set_proof(done.proof);
    txn.compares.push_back(kv::mod_revision_is(fence_key(head), fence.mod_revision));
    for (const auto& [vnfs, owner] : owned_by(view, head)) {
      txn.compares.push_back(kv::mod_revision_is(kv::keys::kOwners + vnfs, owner.mod_revision));
      txn.success.push_back(kv::put(kv::keys::kOwners + vnfs, owner.record.SerializeAsString()));
    }
    if (put_fence(head, record, std::move(txn)) == PutFence::kDone) return {};
  }
  return stands_still(head);
}

// A head that has lost its LUNs only may be cut off from etcd as well: until its proof of life is
// too old it answers its clients from memory, and what others change meanwhile it would not show.
void Agent::wait_for_last_answers(const std::string& head) const {
  log::info("head {}: its mounts end in {} ms, when nothing of it may answer any more", head,
            links_.last_answers_ms);
  std::this_thread::sleep_for(std::chrono::milliseconds(links_.last_answers_ms));
}

Result<kv::Txn> Agent::end_mounts_of_head(const ClusterView& view, const std::string& head,
                                          const fs::EndProof& proof, EndedMounts& ended) {
  kv::Txn txn;
  for (const auto& [vnfs, owner] : owned_by(view, head)) {
    SYMNAS_ASSIGN(const auto mounts,
                  fs::end_mounts_of(store_, clock_, VnfsId(owner.record.vnfs_id()),
                                    Epoch(owner.record.epoch()), proof));
    for (const auto& mount : mounts) {
      log::info("head {}: fenced: ended {} of filesystem {}", head, fs::describe(mount.mount),
                mount.filesystem);
    }
    ended.count += mounts.size();
    ended.epochs[vnfs] = owner.record.epoch();
    txn.compares.push_back(kv::mod_revision_is(kv::keys::kOwners + vnfs, owner.mod_revision));
    txn.success.push_back(kv::erase(kv::keys::kOwners + vnfs));
    records::LeftRecord left;
    left.set_epoch(owner.record.epoch());
    txn.success.push_back(kv::put(kv::keys::kLeft + vnfs, left.SerializeAsString()));
  }
  return txn;
}

void Agent::note_fenced(const records::FenceRecord& fence, const EndedMounts& ended) {
  for (const auto& [vnfs, epoch] : ended.epochs) {
    records::Departure departure;
    departure.set_epoch(epoch);
    departure.set_cause(records::DEPARTURE_FENCED);
    if (fence.silent_since_ns() != 0)
      add_step(*departure.mutable_steps(), step::kSilent, fence.silent_since_ns());
    add_step(*departure.mutable_steps(), step::kFencing, fence.began_ns());
    add_step(*departure.mutable_steps(), step::kFenced, fence.proven_ns());
    add_step(*departure.mutable_steps(), step::kProved, clock_.wall_ns());
    note_departure(vnfs, departure);
  }
}

// What the head owns is read after the pause: until the abort frees its I/O it may be giving up
// what it was asked for, with proof of its own, and does so then.
Result<std::string> Agent::finish_fence(const std::string& head, const std::string& incarnation) {
  EndedMounts ended;
  const auto proven = [&](const ClusterView& view) -> Result<Stored<records::FenceRecord>> {
    const auto fence = view.fences.find(head);
    if (fence == view.fences.end() || fence->second.record.incarnation() != incarnation ||
        (fence->second.record.state() != records::FENCE_PROVEN &&
         fence->second.record.state() != records::FENCE_DONE)) {
      return has_come_back(head);
    }
    return fence->second;
  };
  SYMNAS_ASSIGN(const ClusterView before, read_view(store_, kStoreDeadlineMs));
  SYMNAS_ASSIGN(const auto begun, proven(before));
  if (begun.record.cuts() != "power") wait_for_last_answers(head);
  for (StepTries tries; tries.next();) {
    SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
    SYMNAS_ASSIGN(const auto fence, proven(view));
    records::FenceRecord record = fence.record;
    if (record.state() == records::FENCE_PROVEN) {
      auto txn = end_mounts_of_head(view, head, {config_.head_name, record.proof()}, ended);
      if (!txn && !may_be_done_again(txn.error())) return tl::unexpected<Error>(txn.error());
      if (!txn) continue;
      crash_point("mounts ended", head);
      txn->compares.push_back(kv::mod_revision_is(fence_key(head), fence.mod_revision));
      record.set_state(records::FENCE_DONE);
      if (put_fence(head, record, std::move(*txn)) != PutFence::kDone) continue;
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

// Agent: fencing another head. Order (INV-8): fence record -> proof -> owner records disproved ->
// end records -> owner records and the fence done. Whatever ends in between, a repetition goes on.
#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/admin_keys.h"
#include "common/kv/keys.h"
#include "fsal_cluster/limits.h"
#include "fsal_cluster/state/mount_end.h"
#include "vnfsd/daemon/agent.h"
#include "vnfsd/daemon/limits.h"
#include "vnfsd/history.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/limits.h"

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
  if (!links_.fence_off) {
    return fail(ErrorCode::kNotSupported,
                fmt::format("head {}: no fence agent is configured on {}, so nothing can prove "
                            "that it does nothing any more ([fence] agent in vnfsd.toml)",
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
  if (mode == Mode::kDryRun) return fmt::format("head {}: would be fenced", name);
  SYMNAS_ASSIGN(const records::FenceRecord fence,
                begin_fence(name, victim->record.incarnation(), cause));
  if (fence.state() == records::FENCE_DONE)
    return fmt::format("head {}: is fenced already: {}", name, fence.proof());
  if (fence.state() == records::FENCE_PROVEN) return finish_fence(name);
  auto proof = links_.fence_off(name);
  if (!proof) {
    note_failed_fence(name, proof.error());
    return fail(proof.error().code,
                fmt::format("head {}: not fenced: {} (its mounts have not ended, and what they "
                            "hold stays blocked: look at the agent and repeat the command)",
                            name, proof.error().message));
  }
  log::warn("head {}: fenced: {}", name, *proof);
  SYMNAS_TRY(note_proof(name, *proof));
  return finish_fence(name);
}

Result<records::FenceRecord> Agent::my_fence(const ClusterView& view, const std::string& head,
                                             Revision& revision) const {
  const auto fence = view.fences.find(head);
  if (fence == view.fences.end() || fence->second.record.by() != config_.head_name) {
    return fail(ErrorCode::kConflict,
                fmt::format("head {}: it has come back, or another head fences it now (look at "
                            "symnas status)",
                            head));
  }
  revision = fence->second.mod_revision;
  return fence->second.record;
}

Status Agent::put_fence(const std::string& head, const records::FenceRecord& record, kv::Txn txn) {
  txn.success.push_back(kv::put(fence_key(head), record.SerializeAsString()));
  if (auto event = event_of(head, record, clock_.wall_ns())) add_event(txn, std::move(*event));
  const auto done = kv::txn_blocking(store_, std::move(txn), kStoreDeadlineMs);
  if (!done) return tl::unexpected<Error>(done.error());
  if (done->succeeded) return {};
  return fail(
      ErrorCode::kConflict,
      fmt::format("head {}: its records changed while it was fenced (repeat the command)", head));
}

// From here on the head's incarnation claims nothing. The head may be changing its own record.
Result<records::FenceRecord> Agent::begin_fence(const std::string& head,
                                                const std::string& incarnation,
                                                const FenceCause* cause) {
  Status begun;
  for (int attempt = 0; attempt < kChangeTriesMax; ++attempt) {
    SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
    SYMNAS_ASSIGN(const auto* victim, find(view.heads, "head", head));
    if (victim->record.incarnation() != incarnation) return has_just_booted(head);
    const auto old = view.fences.find(head);
    if (old != view.fences.end() && old->second.record.incarnation() == incarnation &&
        (old->second.record.state() == records::FENCE_DONE ||
         old->second.record.state() == records::FENCE_PROVEN)) {
      return old->second.record;
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
    records::FenceRecord record;
    record.set_head(head);
    record.set_incarnation(incarnation);
    record.set_by(config_.head_name);
    record.set_began_ns(clock_.wall_ns());
    record.set_state(records::FENCE_RUNNING);
    if (cause != nullptr) record.set_silent_since_ns(cause->silent_since_ns);
    record.set_agent_timeout_s(config_.fence.timeout_s);
    kv::Txn txn;
    txn.compares = {
        kv::mod_revision_is(kv::keys::kHeads + head, victim->mod_revision),
        kv::mod_revision_is(fence_key(head), cause != nullptr ? cause->fence : revision_of(head)),
        kv::mod_revision_is(fence_key(config_.head_name), revision_of(config_.head_name)),
        kv::key_absent(kv::keys::kRemoved + config_.head_name)};
    if (cause != nullptr && !cause->silent_key.empty())
      txn.compares.push_back(kv::mod_revision_is(cause->silent_key, cause->silent_revision));
    begun = put_fence(head, record, std::move(txn));
    if (begun) {
      log::warn("head {}: fencing its incarnation {}", head, incarnation);
      return record;
    }
    if (cause != nullptr || begun.error().code != ErrorCode::kConflict) break;
  }
  return tl::unexpected<Error>(begun.error());
}

void Agent::note_failed_fence(const std::string& head, const Error& error) {
  const auto note = [&]() -> Status {
    SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
    Revision revision;
    SYMNAS_ASSIGN(records::FenceRecord record, my_fence(view, head, revision));
    record.set_state(records::FENCE_FAILED);
    record.set_error(error.message);
    kv::Txn txn;
    txn.compares = {kv::mod_revision_is(fence_key(head), revision)};
    return put_fence(head, record, std::move(txn));
  };
  log::error("head {}: not fenced: {}", head, error.message);
  // The record keeps saying that a fence runs: as safe, and a repetition mends it.
  if (const Status noted = note(); !noted) log::error("{}", noted.error().message);
}

// Also puts the head's owner records again: nothing that compares them commits any more, so no
// instance of it makes a mount behind the end records.
Status Agent::note_proof(const std::string& head, const std::string& proof) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
  Revision revision;
  SYMNAS_ASSIGN(records::FenceRecord record, my_fence(view, head, revision));
  record.set_state(records::FENCE_PROVEN);
  record.set_proven_ns(clock_.wall_ns());
  record.set_cuts(config_.fence.cuts);
  record.set_proof(proof);
  kv::Txn txn;
  txn.compares = {kv::mod_revision_is(fence_key(head), revision)};
  for (const auto& [vnfs, owner] : owned_by(view, head)) {
    txn.compares.push_back(kv::mod_revision_is(kv::keys::kOwners + vnfs, owner.mod_revision));
    txn.success.push_back(kv::put(kv::keys::kOwners + vnfs, owner.record.SerializeAsString()));
  }
  return put_fence(head, record, std::move(txn));
}

// A head that has lost its LUNs only may be cut off from etcd as well: until its proof of life is
// too old it answers its clients from memory, and what others change meanwhile it would not show.
void Agent::wait_for_last_answers(const std::string& head) {
  log::info("head {}: its mounts end in {} ms, when nothing of it may answer any more", head,
            kLastAnswersMs);
  std::this_thread::sleep_for(std::chrono::milliseconds(kLastAnswersMs));
}

Result<std::string> Agent::finish_fence(const std::string& head) {
  SYMNAS_ASSIGN(const ClusterView view, read_view(store_, kStoreDeadlineMs));
  const auto fence = view.fences.find(head);
  if (fence == view.fences.end() || fence->second.record.state() != records::FENCE_PROVEN) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("head {}: it has come back meanwhile, and ends its old mounts itself", head));
  }
  records::FenceRecord record = fence->second.record;
  const fs::EndProof proof{config_.head_name, record.proof()};
  if (record.cuts() != "power") wait_for_last_answers(head);
  kv::Txn txn;
  txn.compares = {kv::mod_revision_is(fence_key(head), fence->second.mod_revision)};
  std::size_t mounts = 0;
  const auto owned = owned_by(view, head);
  for (const auto& [vnfs, owner] : owned) {
    SYMNAS_ASSIGN(const auto ended,
                  fs::end_mounts_of(store_, clock_, VnfsId(owner.record.vnfs_id()),
                                    Epoch(owner.record.epoch()), proof));
    for (const auto& mount : ended) {
      log::info("head {}: fenced: ended {} of filesystem {}", head, fs::describe(mount.mount),
                mount.filesystem);
    }
    mounts += ended.size();
    txn.compares.push_back(kv::mod_revision_is(kv::keys::kOwners + vnfs, owner.mod_revision));
    txn.success.push_back(kv::erase(kv::keys::kOwners + vnfs));
  }
  record.set_state(records::FENCE_DONE);
  SYMNAS_TRY(put_fence(head, record, std::move(txn)));
  for (const auto& [vnfs, owner] : owned) {
    records::Departure departure;
    departure.set_epoch(owner.record.epoch());
    departure.set_cause(records::DEPARTURE_FENCED);
    if (record.silent_since_ns() != 0)
      add_step(*departure.mutable_steps(), step::kSilent, record.silent_since_ns());
    add_step(*departure.mutable_steps(), step::kFencing, record.began_ns());
    add_step(*departure.mutable_steps(), step::kFenced, record.proven_ns());
    add_step(*departure.mutable_steps(), step::kProved, clock_.wall_ns());
    note_departure(vnfs, departure);
  }
  std::string what = fmt::format("head {}: fenced, {} mounts of {} VNFSs ended: {}", head, mounts,
                                 owned.size(), record.proof());
  log::info("{}", what);
  return what;
}

}  // namespace symnas::vnfsd::daemon

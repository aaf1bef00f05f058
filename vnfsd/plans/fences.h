// Fences: the steps by which one head has another one fenced, as pure functions from a view to a
// transaction that compares all that the step was decided from. In this order (INV-8): begin, the
// cut, proof, end of its last answers and its mounts, end. Whoever is interrupted, or another head,
// goes on from the record. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "vnfsd/plans/admission.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd {

std::string fence_key(const std::string& head);
using Owned = std::vector<std::pair<std::string, Stored<records::OwnerRecord>>>;
// The VNFSs that the head owns, with their owner records.
Owned owned_by(const ClusterView& view, const std::string& head);

// The boot of a head that is being fenced.
struct Victim {
  std::string head;
  std::string incarnation;
};

struct FencePlan {
  records::FenceRecord record;
  std::optional<kv::Txn> txn;  // puts the record; nullopt: it says so already
};

// What was seen when the head was found silent. It is fenced only if that holds.
struct FenceSeen {
  Revision fence;   // of the head's fence record
  std::string key;  // a heartbeat's; "" = none
  Revision revision;
};
// `wanted`: the record to put. From its state RUNNING on that boot claims nothing. The record that
// is there is returned when it has the boot's proof, or is an earlier try of the same fence.
// `seen`: null when an administrator asks for it. Errors: kNotFound; kConflict (it has just
// booted); kForeign (`own` is not the head any more); kPermission (`own` was fenced).
Result<FencePlan> plan_fence_begin(const ClusterView& view, const HeadBoot& own,
                                   const records::FenceRecord& wanted, const FenceSeen* seen);

// Whether the cut may begin, or go on. Errors: kConflict (the victim has booted since, or its fence
// is not this head's any more); kNotFound.
Status check_still_fenced(const ClusterView& view, const HeadBoot& own, const Victim& victim);

// The cut failed. Nothing to do when the fence is not this head's, or does not run. Errors:
// kConflict (it is not this head's).
Result<FencePlan> plan_fence_failed(const ClusterView& view, const HeadBoot& own,
                                    const Victim& victim, const std::string& error);

// REQUIRES: the victim is cut off (`cuts`: power or luns), which `proof` says in words. Also puts
// the victim's owner records again: nothing that compares them commits any more, so no instance of
// it makes a mount behind the end records. Errors: kConflict.
Result<FencePlan> plan_fence_proof(const ClusterView& view, const HeadBoot& own,
                                   const Victim& victim, const std::string& cuts,
                                   const std::string& proof, std::int64_t now_ns);

struct FenceEnd {
  FencePlan plan;
  Owned owned;  // whose mounts end before the transaction
};
// Whoever finds a proof may end the fence. REQUIRES: nothing of the victim may answer any more; the
// mounts of `owned` have ended when the transaction is sent. Errors: kConflict (nothing is proved).
Result<FenceEnd> plan_fence_end(const ClusterView& view, const Victim& victim);

// Errors of the code kConflict.
tl::unexpected<Error> has_just_booted(const std::string& head);
tl::unexpected<Error> has_come_back(const std::string& head);

}  // namespace symnas::vnfsd

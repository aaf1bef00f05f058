// Who is a head, and who owns a VNFS: registrations, claims and releases as pure functions from a
// view to a transaction. Thread-safe.
// Every transaction compares all that its plan was made from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/store.h"
#include "vnfsd/plans/admission.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd {

// Registers the boot as the head of its name, and ends the fence of an earlier one. `said`: what
// the head says of itself: address, probe addresses, MACs, when its agent started. Errors:
// kForeign, kPermission (as below), kNotSupported (the cluster's level is above this version's).
Result<kv::Txn> plan_register(const ClusterView& view, const HeadBoot& boot,
                              records::HeadRecord said);

struct Claim {
  kv::Txn txn;
  std::string owner_key;
  std::uint64_t epoch = 0;  // nobody else gets it; it is not used before `txn` has succeeded
};
// `prepared`: the epoch of a standby, which is used if every instance of the VNFS had an earlier
// one; else a new one is taken. Errors: kNotFound; kBusy (stopped, owned by another head, on its
// way to another one, not wanted here: the message says which); kPermission (this boot was fenced);
// kForeign (the machine is not the head any more); kNoSpace.
Result<Claim> plan_claim(const ClusterView& view, const HeadBoot& boot, const std::string& vnfs,
                         std::optional<Epoch> prepared, std::int64_t now_ns);

// How the last instance went, and who was left (instance/connections.h).
struct Leaving {
  records::Departure departure;  // its epoch is 0: none has run
  std::vector<std::string> connections;
  std::vector<std::string> unheard;
};
struct Release {
  kv::Txn txn;
  records::Departure departure;  // with its cause
};
// REQUIRES: the local fence of the VNFS on this head. nullopt: the head does not own it.
std::optional<Release> plan_release(const ClusterView& view, const HeadBoot& boot,
                                    const std::string& vnfs, const Leaving& leaving);

// The error of a head that `fence` forbids to claim: kPermission.
tl::unexpected<Error> fenced_here(const records::FenceRecord& fence);

}  // namespace symnas::vnfsd

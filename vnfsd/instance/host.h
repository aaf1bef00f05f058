// Host: what the supervisor of a VNFS needs of its head, and what it tells it. Interface and
// values.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/instance/state_file.h"
#include "vnfsd/records/records.pb.h"

namespace symnas::vnfsd::instance {

// How the last instance of a VNFS on this head went.
struct Farewell {
  records::Departure departure;          // its epoch is 0: none has run
  std::vector<std::string> connections;  // of its clients (Connection)
  std::vector<std::string> unheard;      // of before it; may not have heard that they were left
};

// How the VNFS's present instance came to serve.
struct Arrival {
  Epoch epoch;
  google::protobuf::RepeatedPtrField<records::Step> steps;
  records::Departure last;  // of the instance before, if it ended by itself here; epoch 0: none
};

// Host: what a supervisor needs of its head. Thread-safe; the calls block.
class Host {
 public:
  virtual ~Host() = default;
  // The plan of an instance that waits for its claim, with an epoch that nobody else gets.
  // Errors: as claim().
  virtual Result<InstancePlan> prepare(const std::string& vnfs) = 0;
  // The instance of prepare() waits for its claim.
  virtual void prepared(const std::string& vnfs) = 0;
  // Takes ownership of the VNFS and returns the plan of the instance to start: with the epoch of
  // prepare() if every instance of the VNFS had an earlier one, else with a new one. Errors: kBusy
  // (another head owns it), kNotFound, kUnavailable, kUnknownOutcome (try again).
  virtual Result<InstancePlan> claim(const std::string& vnfs, std::optional<Epoch> prepared) = 0;
  // The plan as records and LUNs are now, for the instance that runs as `state` says.
  virtual Result<InstancePlan> plan_of(const std::string& vnfs, const InstanceState& state) = 0;
  // Local fence: every process of the VNFS on this head is dead and reaped. Obtains its OFD byte on
  // every LUN of its volumes, then writes the end records of its mounts. Idempotent. Errors: kBusy
  // (I/O still in flight: try again), kUnavailable, kIo.
  virtual Status fence(const std::string& vnfs) = 0;
  // Gives ownership up. REQUIRES: fence() succeeded. Idempotent. Errors: kUnavailable,
  // kUnknownOutcome.
  virtual Status release(const std::string& vnfs, const Farewell& farewell) = 0;
  // Tells that the VNFS's instance has ended without being told to. Waits for nothing.
  virtual void ended(const std::string& vnfs, Epoch epoch, const std::string& how) = 0;
  // Tells that others answer for VIPs of the VNFS (text_of()), so that these are not taken. Waits
  // for nothing.
  virtual void vips_taken(const std::string& vnfs, const std::string& by_whom) = 0;
  // Head and epoch of each instance of the VNFS that is remembered. Errors: as release().
  virtual Result<std::vector<std::pair<std::string, Epoch>>> earlier(const std::string& vnfs) = 0;
  // To be called before the VNFS's instance is told to serve the exports of the plan: from then on
  // nobody knows what it serves. nullopt: it serves them already, and need not be told. Errors:
  // kConflict (somebody else owns it), those of the store.
  virtual Result<std::optional<Revision>> tells_exports(const InstancePlan& plan) = 0;
  // The instance was told. `taken`: success when it serves the exports, kInvalidArgument when it
  // has refused them; after any other error it is not known what it serves, and stays so.
  // `telling`: what tells_exports() returned. Errors: as tells_exports(), and `taken`.
  virtual Status exports_told(const InstancePlan& plan, Revision telling, const Status& taken) = 0;
  // Tells that the VNFS's instance serves: a move that led to this head is done. Errors: as
  // release().
  virtual Status served(const std::string& vnfs, const Arrival& arrival) = 0;
};

}  // namespace symnas::vnfsd::instance

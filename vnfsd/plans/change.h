// Change: one administrative change as a transaction, and the way it is committed.
// Thread-compatible value type; commit_change is thread-safe for different changes.
//
// Every change compares and puts the cluster record, so changes are serial: what a plan read in its
// view still holds when it commits. Two administrators at once: one commits, the other's plan is
// made again from the new view and then succeeds or says what is in its way.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "vnfsd/names/mode.h"
#include "vnfsd/records/cluster_view.h"
#include "vnfsd/records/events.h"

namespace symnas::vnfsd {

struct Change {
  std::string what;         // for messages and the log: "volume v1: created"; one line or several
  kv::Txn txn;              // without the cluster record
  std::uint32_t level = 0;  // the cluster's from then on (records/levels.h); 0: stays
  std::optional<records::Decider> decider = {};  // the cluster's from then on; nullopt: stays
};

// The lines of Change::what.
std::vector<std::string> lines_of(const std::string& what);

using Planner = std::function<Result<Change>(const ClusterView&)>;

// Reads the view, plans, commits; again while others' changes come first, at most kChangeTriesMax
// times. kDryRun: only reads and plans. Returns Change::what. Errors: the planner's, kConflict (too
// many others), kUnavailable, kUnknownOutcome (etcd did not answer within kChangeDeadlineMs; the
// change may still come to be), kNoSpace. `events`: gets one for each line of Change::what, in the
// same transaction. Empty: nobody is told.
Result<std::string> make_change(kv::Store& store, const Planner& planner, Mode mode,
                                const EventSink& events = {});

// The transaction as it is sent: `change` plus the guard on the cluster record, tagged with
// `change_id`.
kv::Txn guarded(const ClusterView& view, Change change, const std::string& change_id);

// Every record of the range is as old as the view: nothing was added or changed since (deletions do
// not count).
kv::Compare unchanged_since(const ClusterView& view, const std::string& prefix);

// Takes `count` values from a counter that starts at 1 and returns the first; adds the put (the
// cluster record guards it). Errors: kNoSpace when the counter has passed max.
Result<std::uint64_t> take_from_counter(const ClusterView& view, const std::string& counter_key,
                                        std::uint64_t max, kv::Txn& txn, std::uint64_t count = 1);

}  // namespace symnas::vnfsd

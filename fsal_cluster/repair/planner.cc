#include "fsal_cluster/repair/planner.h"

#include <algorithm>
#include <set>
#include <utility>

#include "fsal_cluster/repair/facts.h"
#include "fsal_cluster/repair/limits.h"
#include "fsal_cluster/repair/repairs.h"

namespace symnas::fs::repair {
namespace {

using check::Fault;

Result<Step> step_for(Draft draft) {
  switch (draft.damage().fault) {
    case Fault::kOther:
      return std::move(draft).refuse(
          "no repair is known: restore the record from an etcd snapshot, or remove the object and "
          "make it again");
    case Fault::kUnreadableNames:
    case Fault::kNamesOfNoDirectory:
    case Fault::kBucketForm:
    case Fault::kNameForm:
    case Fault::kNamePlace:
    case Fault::kNameTwice:
    case Fault::kNameOfNothing:
    case Fault::kNameOfRoot:
    case Fault::kNameType: return repair_name(std::move(draft));
    case Fault::kNamesWithoutDirectory:
    case Fault::kRootMissing:
    case Fault::kRootParent:
    case Fault::kParentDiffers:
    case Fault::kParentMissing:
    case Fault::kDirectoryNameless:
    case Fault::kDirectoryNames:
    case Fault::kDirectoryLinks:
    case Fault::kCycle:
    case Fault::kLinkCount:
    case Fault::kNameless: return repair_tree(std::move(draft));
    case Fault::kUnreadableInode:
    case Fault::kUnknownType:
    case Fault::kMode:
    case Fault::kAcl:
    case Fault::kReservedIno:
    case Fault::kSymlinkSize:
    case Fault::kUnreadableTimes:
    case Fault::kTimesOfNothing:
    case Fault::kTimesOfNoDirectory:
    case Fault::kUnknownKey:
    case Fault::kInoCounter:
    case Fault::kMountCounter:
    case Fault::kMountClaim:
    case Fault::kStamp:
    case Fault::kCtimeAhead:
    case Fault::kXattrCount:
    case Fault::kXattrOfNothing: return repair_record(std::move(draft));
    case Fault::kUnreadableChunk:
    case Fault::kExtent:
    case Fault::kMapBehindEnd:
    case Fault::kBlockCount:
    case Fault::kMapOfNoFile:
    case Fault::kGenerationAhead:
    case Fault::kDeadMap:
    case Fault::kMapOfNothing:
    case Fault::kChunksUnsaid:
    case Fault::kEmptyChunk:
    case Fault::kWatermark: return repair_map(std::move(draft));
    case Fault::kUnreadableReverse:
    case Fault::kReverseMissing:
    case Fault::kReverseDiffers:
    case Fault::kReverseLost:
    case Fault::kReverseOverlaps:
    case Fault::kReverseMisplaced:
    case Fault::kTwoOwners: return repair_space(std::move(draft));
    case Fault::kUnreadableOrphan:
    case Fault::kOrphanOpenGone:
    case Fault::kOrphanTruncatedGone:
    case Fault::kOrphanGeneration:
    case Fault::kOrphanLinked:
    case Fault::kOrphanTakesLive: return repair_orphan(std::move(draft));
    case Fault::kTokenLeft:
    case Fault::kHeartbeatLeft:
    case Fault::kHoldLeft:
    case Fault::kSlotLeft:
    case Fault::kGroupLeft:
    case Fault::kEndLeft:
    case Fault::kMountEnded:
    case Fault::kHeldByEnded:
    case Fault::kTokenOfNothing:
    case Fault::kWantOfNothing:
    case Fault::kTwoTokens:
    case Fault::kGroupMissing:
    case Fault::kGroupOffVolume:
    case Fault::kLockOfNothing:
    case Fault::kLockOfNoVnfs:
    case Fault::kLockEmpty:
    case Fault::kLockKey:
    case Fault::kLockConflict:
    case Fault::kUnreadableLock: return repair_holder(std::move(draft));
  }
  return std::move(draft).refuse("no repair is known");
}

std::size_t bytes_of(const Step& step) {
  std::size_t bytes = 0;
  for (const Change& change : step.changes)
    bytes += 2 * change.key.size() + (change.before ? change.before->size() : 0) +
             2 * (change.after ? change.after->size() : 0);
  return bytes;
}

void forbid(Step& step, Verdict verdict, std::string text) {
  step.verdict = verdict;
  step.text = std::move(text);
  step.compares.clear();
  step.changes.clear();
  step.changed_directories.clear();
  step.changed_files.clear();
}

// Whether one of the keys lies in the range.
bool touches(const std::set<std::string>& keys, const kv::KeyRange& range) {
  const auto first = keys.lower_bound(range.key);
  return first != keys.end() && kv::contains(range, *first);
}

// Steps of one plan are independent of each other: none reads or changes what another changes.
void separate(std::vector<Step>& steps) {
  std::set<std::string> changed;
  for (Step& step : steps) {
    if (step.verdict != Verdict::kRepair) continue;
    const bool waits =
        std::any_of(step.compares.begin(), step.compares.end(),
                    [&](const kv::Compare& compare) { return touches(changed, compare.range); });
    if (waits) {
      forbid(step, Verdict::kLater, "the repair of a finding above changes the same records");
    } else if (step.compares.size() > kStepKeysMax || step.changes.size() > kStepKeysMax ||
               bytes_of(step) > kStepBytesMax) {
      forbid(step, Verdict::kRefuse,
             "too many records for one transaction: restore them from an etcd snapshot");
    } else {
      for (const Change& change : step.changes) changed.insert(change.key);
    }
  }
}

// What waits for an earlier order may look different then.
void postpone(Plan& plan) {
  for (Step& step : plan.steps)
    if (step.verdict == Verdict::kRepair && !plan.is_due(step))
      forbid(step, Verdict::kLater, "after the steps above: " + step.text);
}

}  // namespace

Result<Plan> plan_repair(const check::Report& report, Snapshot& snapshot, std::int64_t wall_ns) {
  SYMNAS_ASSIGN(const Facts facts, gather_facts(report, snapshot, wall_ns));
  Plan plan;
  plan.filesystem = report.filesystem;
  plan.fs = facts.fs;
  plan.revision = report.revision;
  plan.findings_total = report.total;
  for (const check::Finding& finding : report.findings) {
    auto step = step_for(Draft(snapshot, facts, finding));
    if (step) {
      plan.steps.push_back(std::move(*step));
    } else if (step.error().code == ErrorCode::kCorrupt) {
      plan.steps.push_back(Draft(snapshot, facts, finding).refuse(step.error().message));
    } else {
      return tl::unexpected<Error>(std::move(step.error()));
    }
  }
  // Earlier orders first, so that what waits is what comes later anyway.
  std::stable_sort(plan.steps.begin(), plan.steps.end(),
                   [](const Step& a, const Step& b) { return a.order < b.order; });
  separate(plan.steps);
  postpone(plan);
  return plan;
}

}  // namespace symnas::fs::repair

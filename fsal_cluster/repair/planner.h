// plan_repair: what a repair will do about the findings of a check. Deterministic: the same
// findings and the same records give the same plan. Blocks; thread-safe.
#pragma once

#include "common/base/result.h"
#include "fsal_cluster/check/check.h"
#include "fsal_cluster/repair/plan.h"
#include "fsal_cluster/repair/snapshot.h"

namespace symnas::fs::repair {

// `snapshot`: of report.revision. `wall_ns`: now. No key is changed by two steps: the second one is
// `later`. Errors: as Snapshot::get.
Result<Plan> plan_repair(const check::Report& report, Snapshot& snapshot, std::int64_t wall_ns);

}  // namespace symnas::fs::repair

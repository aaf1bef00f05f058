// Carries out the steps of a plan: each one by one transaction, with its record. Blocks;
// thread-safe. Whoever is interrupted may plan and apply again: what was done is found no more.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/store.h"
#include "fsal_cluster/repair/plan.h"

namespace symnas::fs::repair {

enum class Applied : std::uint8_t {
  kDone,
  kChanged,  // something that the step was reasoned from has changed: nothing was done
};

// Carries out step `number` of the plan. Errors: as Store::txn, nothing was done then; but
// kUnknownOutcome and kNoSpace: look again.
Result<Applied> apply_step(kv::Store& store, const env::Clock& clock, const Plan& plan,
                           std::size_t number, const std::string& head);

struct Outcome {
  std::size_t step = 0;  // number in the plan
  Applied applied = Applied::kDone;
};
// Carries out the steps that are due, in order. `told` is called after each one; an error of it
// ends the repair. Errors: as apply_step(); kNoSpace: the records of repairs take too much.
Result<std::vector<Outcome>> apply_plan(kv::Store& store, const env::Clock& clock, const Plan& plan,
                                        const std::string& head,
                                        const std::function<Status(const Outcome&)>& told);

}  // namespace symnas::fs::repair

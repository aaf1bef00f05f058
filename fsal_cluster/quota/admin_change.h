// A change of a record of quotas from outside of a mount: one transaction that also puts the stamp,
// so every mount sees it. Thread-safe; blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/store.h"

namespace symnas::fs {

// kCheck answers as kChange would, and changes nothing.
enum class Doing : std::uint8_t { kChange, kCheck };

struct PlannedChange {
  std::vector<kv::Compare> compares;  // beside that of the record itself
  std::vector<kv::Op> writes;         // none: nothing is to be done
};
// From the record as it is now; nullopt: there is none.
using ChangePlan = std::function<Result<PlannedChange>(const std::optional<kv::KeyValue>&)>;

// Reads the record, plans its change, commits it; again when others were faster. False: there was
// nothing to do. Errors: those of `plan`, kUnavailable, kNoSpace, kConflict (try again).
Result<bool> change_record(kv::Store& store, FsId fs, const std::string& key,
                           const ChangePlan& plan, Doing doing = Doing::kChange);

}  // namespace symnas::fs

// The records of what was repaired, with what was there before: bounded, so that somebody can put
// it back by hand. Format: docs/formats/repair_record.md. Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/repair/plan.h"
#include "fsal_cluster/repair/records.pb.h"

namespace symnas::fs::repair {

records::RepairRecord record_of(const Plan& plan, const Step& step, const std::string& head,
                                std::int64_t wall_ns);
// Ascending by time. Blocks. Errors: kUnavailable, kCorrupt.
Result<std::vector<records::RepairRecord>> read_log(kv::Store& store, FsId fs);
// Erases the oldest ones beyond kLogRecordsMax and kLogBytesMax, but none younger than kLogKeepNs.
// Returns how many bytes the others have. Blocks. Errors: those of the store.
Result<std::uint64_t> trim_log(kv::Store& store, FsId fs, std::int64_t wall_ns);
// kNoSpace: so many bytes are too many.
Status check_log_room(const Plan& plan, std::uint64_t bytes);

}  // namespace symnas::fs::repair

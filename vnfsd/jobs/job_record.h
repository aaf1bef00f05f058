// JobRecord: a job as it is shown and as it is on disk (docs/formats/jobs.md). A value type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "common/base/result.h"

namespace symnas::vnfsd {

struct JobRecord {
  std::uint64_t id = 0;
  std::string kind;               // name of the API's operation: "checkFilesystem"
  std::string what;               // "fs u04"
  std::string by;                 // the caller
  std::string role;               // the least role that may see its result and cancel it
  std::string state = "running";  // running, done, failed, cancelled, interrupted
  std::int64_t began_ns = 0;      // wall clock
  std::int64_t ended_ns = 0;      // 0: it has not
  std::optional<double> share;    // 0 to 1
  std::string text;               // what is being done
  std::string kept_by;            // why it cannot be cancelled; "" = it can
  nlohmann::json result;          // of one that is done
  std::optional<Error> error;     // of one that is not
};

enum class Detail { kShort, kWhole };  // kShort: without the result
nlohmann::json job_document(const JobRecord& job, Detail detail);
// Errors: kCorrupt.
Result<JobRecord> job_from_document(const nlohmann::json& document);

}  // namespace symnas::vnfsd

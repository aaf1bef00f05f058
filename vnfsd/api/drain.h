// Follows a drain until the head has no VNFS any more. Thread-safe: a function without state.
#pragma once

#include <string>

#include "common/base/result.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/jobs/progress.h"

namespace symnas::vnfsd::api {

// Blocks. While etcd is away it says so and waits. Errors: kConflict (cancelled: the drain stays
// recorded), kBusy (kDrainFollowedS have passed; the message says what is left).
Status follow_drain(RecordsBackend& records, const std::string& head, Progress& progress);

}  // namespace symnas::vnfsd::api

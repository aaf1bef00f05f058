// JSON documents and filters of recorded locks. Thread-safe: pure functions. Described in
// docs/operations/api.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "fsal_cluster/state/lock_admin.h"
#include "vnfsd/api/requests.h"

namespace symnas::vnfsd::api {

// The filter in a request's query. Errors: kInvalidArgument (an unknown name, a value that is
// none).
Result<LockFilter> lock_filter(const std::map<std::string, std::string>& query);
// Whether the filter's VNFS, client and inode are this lock's.
bool matches(const LockFilter& filter, const fs::LockEntry& lock);
// `path`: the path of the lock's file; "": it was not asked for.
nlohmann::json lock_document(const std::string& filesystem, const std::string& path,
                             const fs::LockEntry& lock, std::int64_t now_ns);

}  // namespace symnas::vnfsd::api

// JSON documents and bodies of quotas. Thread-safe: pure functions. Described in
// docs/operations/api.md.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "fsal_cluster/quota/quota_admin.h"

namespace symnas::vnfsd::api {

// A limit that is to be set, or whose subject is to be found.
struct QuotaRequest {
  fs::Subject subject;
  std::string path;  // of a tree's root; empty: the subject has the tree's number
  fs::LimitEdit edit;
};
// Whether a body may hold limits.
enum class QuotaBody { kSubject, kLimits };
// Errors: kInvalidArgument.
Result<QuotaRequest> quota_request(const nlohmann::json& body, QuotaBody what);
// A directory that is to become a tree, as its path; a tree. Errors: kInvalidArgument.
Result<std::string> quota_tree_path(const nlohmann::json& body);
Result<QuotaRequest> quota_tree_request(const nlohmann::json& body);
Result<fs::QuotaSwitch> quota_switch(const nlohmann::json& body);
nlohmann::json quotas_document(const std::string& filesystem, std::uint32_t block_bytes,
                               const fs::QuotaReport& report, std::int64_t now_ns);

}  // namespace symnas::vnfsd::api

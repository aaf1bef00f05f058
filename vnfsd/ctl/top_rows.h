// The rows of `symnas top`, from the document of GET /v1/load. Pure.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace symnas::vnfsd::ctl {

enum class TopOrder { kRequests, kBytes, kLatency };

// Adds up the rows that are equal in each of `by` ("client", "export", "operation", "vnfs"), the
// greatest first. A row has these members and requests_per_s, errors_per_s, read_bytes_per_s,
// written_bytes_per_s, mean_us, worst_us, and requests_share and bytes_share: its part of all rows,
// 0 to 1. An operation is the same in all versions of NFS.
nlohmann::json top_rows(const nlohmann::json& load, const std::vector<std::string>& by,
                        TopOrder order);

}  // namespace symnas::vnfsd::ctl

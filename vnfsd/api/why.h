// Why a VNFS is on a head, may go there or may not: document of GET /v1/vnfs/NAME/why/HEAD.
// Thread-safe: a pure function of a view.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::api {

// {vnfs, head, verdict, role, standby, owner, state, why, planned, reasons, ways, notes}
// (docs/operations/api.md). `here`: as for placement_document(). Errors: kNotFound (there is no
// such VNFS, or there is and was no such head).
Result<nlohmann::json> why_document(const ClusterView& view, const nlohmann::json& here,
                                    const std::string& vnfs, const std::string& head,
                                    std::int64_t now_ns);

}  // namespace symnas::vnfsd::api

// What devices hold that a head could import, as a document. Thread-safe: a pure function.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cvm/lun_survey.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::api {

// `devices` in the order given; members: docs/operations/openapi.json, Device.
nlohmann::json lun_scan_document(const ClusterView& view,
                                 const std::vector<cvm::SurveyedDevice>& devices);

}  // namespace symnas::vnfsd::api

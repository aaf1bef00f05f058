// What a running instance was asked to do (docs/formats/instance_load.md). Thread-safe function
// without state.
#pragma once

#include <string>

#include "common/base/result.h"
#include "fsal_cluster/load/load_report.h"

namespace symnas::vnfsd::instance {

// Everything since the instance behind `control` began. Errors: kUnavailable (it does not answer
// within kCallTimeoutMs), kNotSupported (it is of a version that does not count), kCorrupt.
Result<fs::LoadReport> load_of(const std::string& control);

}  // namespace symnas::vnfsd::instance

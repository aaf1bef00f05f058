// Looks at LUNs and at the means of cutting heads off. Thread-safe: functions without state.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "cvm/lun_survey.h"
#include "ha/fencing/fence_agent.h"
#include "vnfsd/preflight/finding.h"

namespace symnas::vnfsd::preflight {

// The devices that the globs, directories and files name, each once. One that does not answer for
// kDeviceMs is left to itself, and named in `hung`. Errors: those of cvm::candidate_nodes().
Result<std::vector<cvm::SurveyedDevice>> look_at_luns(const std::vector<std::string>& patterns,
                                                      std::vector<std::string>& hung);
// Whether each device could fence (symnas-fence says so).
std::vector<Finding> look_at_reservations(const std::string& program,
                                          const std::vector<cvm::SurveyedDevice>& luns);
// Whether the agent answers `monitor`.
Finding look_at_agent(const ha::FenceAgent& agent);

}  // namespace symnas::vnfsd::preflight

// Runs a step on every LUN at once, each in a process of its own: a path that hangs blocks only
// that process, in the kernel, where nothing can end it. Confined to one thread: it forks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "ha/reservation/registrations.h"

namespace symnas::ha {

using LunStep = std::function<Result<LunState>(const std::string& device)>;

// Returns the answers in the order of the devices. kUnavailable: no answer within timeout_ms, which
// counts from this call for all of them; that process was sent SIGKILL, and what it has sent may
// still be executed.
std::vector<Result<LunState>> on_each(const std::vector<std::string>& devices,
                                      std::int64_t timeout_ms, const LunStep& step);

}  // namespace symnas::ha

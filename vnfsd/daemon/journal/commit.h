// A change of the records as this head makes it. Thread-safe.
#pragma once

#include <string>

#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/names/mode.h"
#include "vnfsd/plans/change.h"

namespace symnas::vnfsd::daemon {

// make_change() with its events, unless this head was removed. Errors also: kForeign.
Result<std::string> commit(const ThisHead& head, EventWriter& events, const Planner& planner,
                           Mode mode);

}  // namespace symnas::vnfsd::daemon

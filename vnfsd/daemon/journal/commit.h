// The way in which this head commits a change of the records. Thread-safe.
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

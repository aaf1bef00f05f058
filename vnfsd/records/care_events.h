// Kinds of events about the care of stored data: repairs and scrubs. See events.h.
#pragma once

#include <string_view>

namespace symnas::vnfsd::event {

inline constexpr std::string_view kRepaired = "repaired";             // findings of a check
inline constexpr std::string_view kLunUnreadable = "lun-unreadable";  // found by a scrub

}  // namespace symnas::vnfsd::event

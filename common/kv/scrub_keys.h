// Keys of scrubs: docs/formats/scrub_record.md.
#pragma once

#include <string>

namespace symnas::kv::keys {

inline const std::string kScrubs = "x/scrub/";  // + LUN: ScrubRecord

}  // namespace symnas::kv::keys

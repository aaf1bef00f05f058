// Keys of events. They are not in keys.h, because its readers do not need them.
// docs/formats/keys.md.
#pragma once

#include <cstdint>
#include <string>

namespace symnas::kv::keys {

// Not below "c/": a reader of the cluster's records need not read them.
inline const std::string kEvents = "e/";  // + head + "/" + slot, 3 hex digits: EventRecord
inline std::string event(const std::string& head, std::uint64_t slot) {
  std::string key = kEvents + head + "/";
  for (int shift = 8; shift >= 0; shift -= 4)
    key.push_back("0123456789abcdef"[slot >> shift & 0xf]);
  return key;
}

}  // namespace symnas::kv::keys

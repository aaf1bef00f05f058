// Keys of the records of repairs: docs/formats/repair_record.md.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/kv/keys.h"

namespace symnas::kv::keys {

inline void append_hex(std::string& key, std::uint64_t number, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    key.push_back("0123456789abcdef"[number >> shift & 0xf]);
}

inline std::string repairs_of(FsId fs) {
  std::string key = "r/";
  append_hex(key, fs.value(), 8);
  return key + "/";
}
// + revision that was checked, 16 hex digits + "/" + number of the step, 4: RepairRecord
inline std::string repair(FsId fs, Revision checked, std::uint64_t step) {
  std::string key = repairs_of(fs);
  append_hex(key, static_cast<std::uint64_t>(checked.value()), 16);
  key.push_back('/');
  append_hex(key, step, 4);
  return key;
}

}  // namespace symnas::kv::keys

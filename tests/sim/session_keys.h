// The keys that the mounts of the session simulation work on, and what etcd holds under them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/kv/keys.h"
#include "common/kv/mem/mem_store.h"

namespace symnas::sim {

inline constexpr FsId kFs{7};
inline constexpr std::uint64_t kCounters = 3;
inline constexpr std::uint64_t kScratchKeys = 5;

inline std::string watched_key(const std::string& name) {
  return kv::keys::filesystem(kFs) + "w" + name;
}
inline std::string counter_key(std::uint64_t i) { return watched_key("I" + std::to_string(i)); }
inline std::string log_key() { return watched_key("J"); }
inline std::string scratch_key(std::uint64_t i) { return watched_key("M" + std::to_string(i)); }
inline std::string scratch_prefix() { return watched_key("M"); }

inline std::optional<kv::KeyValue> stored(const kv::MemServer& server, const std::string& key) {
  for (auto& kv : server.dump()) {
    if (kv.key == key) return kv;
  }
  return std::nullopt;
}

}  // namespace symnas::sim

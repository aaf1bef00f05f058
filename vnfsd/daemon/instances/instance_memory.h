// What the memory of an instance is used for. Thread-safe: a function without state.
#pragma once

#include <cstdint>
#include <string>

namespace symnas::vnfsd::daemon {

struct MemoryUse {
  std::uint64_t resident_bytes = 0;       // 0: the process is gone
  std::uint64_t idle_resident_bytes = 0;  // before its first client; 0: not known
  std::uint64_t cached_inodes = 0;
};
// As the kernel says of the process and the instance in its `memory_file`
// (docs/formats/instance_file.md), which is missing for its first second.
MemoryUse memory_of(std::int64_t pid, const std::string& memory_file);

}  // namespace symnas::vnfsd::daemon

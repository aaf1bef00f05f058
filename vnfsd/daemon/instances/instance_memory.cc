#include "vnfsd/daemon/instances/instance_memory.h"

#include <charconv>
#include <fstream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::daemon {
namespace {

// VmRSS of proc(5); 0 when the process is gone.
std::uint64_t resident_bytes(std::int64_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmRSS:")) continue;
    const std::size_t digits = line.find_first_of("0123456789");
    std::uint64_t kib = 0;
    if (digits != std::string::npos)
      std::from_chars(line.data() + digits, line.data() + line.size(), kib);
    return kib * 1024;
  }
  return 0;
}

}  // namespace

MemoryUse memory_of(std::int64_t pid, const std::string& memory_file) {
  MemoryUse out{.resident_bytes = resident_bytes(pid)};
  std::ifstream file(memory_file);
  const nlohmann::json said = nlohmann::json::parse(file, nullptr, false);
  if (said.is_object()) {
    out.idle_resident_bytes = said.value("idle_resident_bytes", std::uint64_t{0});
    out.cached_inodes = said.value("cached_inodes", std::uint64_t{0});
  }
  return out;
}

}  // namespace symnas::vnfsd::daemon

// What a support bundle asks the machine for. Tables without state.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace symnas::vnfsd::support {

struct Program {
  std::string name;  // of the member
  std::string path;
  std::vector<std::string> arguments;
};
// Our own, which lie where the head's configuration or its packages have put them.
struct ProgramPlaces {
  std::string vnfsd;
  std::string ganesha;
  std::string etcd;
};
std::vector<Program> programs(const ProgramPlaces& places);

// Collections and documents of the API (docs/operations/api.md): /v1/<name>; status first.
std::span<const std::string_view> collections();
// Below /proc/sys.
std::span<const std::string_view> sysctls();
// Absolute paths of the kernel's files.
std::span<const std::string_view> kernel_files();
// In the directory of an instance.
std::span<const std::string_view> instance_files();
// Below /proc/PID/net of an instance.
std::span<const std::string_view> instance_network_files();

}  // namespace symnas::vnfsd::support

// Looks at this machine. Thread-safe: functions without state; nothing is changed but for a file
// that is removed again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vnfsd/preflight/judge.h"

namespace symnas::vnfsd::preflight {

// adjtimex(2), which changes nothing here. nullopt: it fails.
std::optional<ClockSeen> look_at_clock();
// uname(2); io_uring_setup(2); the lists of the kernel's modules.
KernelSeen look_at_kernel();
// Binds the port on all addresses, and lets it go.
PortSeen look_at_port(std::uint16_t port, bool udp);
// Writes and syncs in the directory, or the nearest one above that is there, kSyncs times or for
// kSyncsAtMostMs. Empty: it cannot be written to.
std::vector<std::int64_t> look_at_disk(const std::string& directory);
// net.ipv4.neigh.default.gc_thresh3, which network namespaces other than the first do not have.
std::optional<std::int64_t> look_at_neighbours();
bool is_selinux_enforced();
bool is_apparmor_enabled();

}  // namespace symnas::vnfsd::preflight

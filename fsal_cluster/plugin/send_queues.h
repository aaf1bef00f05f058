// What the kernel says about connections that still carry replies. Functions without state.
#pragma once

#include <cstdint>
#include <string>

namespace symnas::plugin {

// Bytes that peers have not acknowledged on the connections of the local `port`, from the text of
// /proc/net/tcp or tcp6 (proc(5)). Lines that cannot be parsed count as nothing.
std::uint64_t unacknowledged_bytes(const std::string& proc_net_tcp, std::uint16_t port);

}  // namespace symnas::plugin

// The kernel's table of TCP sockets, /proc/net/tcp and tcp6 (proc(5)). Pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace symnas {

inline constexpr unsigned kTcpEstablished = 1;  // linux/net_tcp_states.h

struct TcpSocket {
  // As printed: words of the machine in hexadecimal, each in its own byte order; 8 or 32 digits.
  std::string local_address;
  std::uint16_t local_port = 0;
  std::string remote_address;
  std::uint16_t remote_port = 0;
  unsigned state = 0;
};

// Lines that cannot be parsed are left out.
std::vector<TcpSocket> parse_tcp_table(const std::string& text);

}  // namespace symnas

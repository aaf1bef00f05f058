#include "fsal_cluster/plugin/send_queues.h"

#include <cstdlib>
#include <sstream>

namespace symnas::plugin {
namespace {

constexpr std::uint64_t kListening = 0x0A;  // its tx_queue says something else

std::uint64_t hexadecimal(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 16);
}

}  // namespace

// "  0: 0A630001:0801 0A63000A:03E9 01 00000000:00000000 ...": local address, remote address,
// state, tx_queue:rx_queue.
std::uint64_t unacknowledged_bytes(const std::string& proc_net_tcp, std::uint16_t port) {
  std::istringstream lines(proc_net_tcp);
  std::string line;
  std::uint64_t bytes = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string slot;
    std::string local;
    std::string remote;
    std::string state;
    std::string queues;
    if (!(words >> slot >> local >> remote >> state >> queues)) continue;
    const std::size_t colon = local.find(':');
    if (colon == std::string::npos || hexadecimal(local.substr(colon + 1)) != port) continue;
    if (hexadecimal(state) != kListening) bytes += hexadecimal(queues);
  }
  return bytes;
}

}  // namespace symnas::plugin

#include "fsal_cluster/plugin/send_queues.h"

#include "common/base/tcp_table.h"

namespace symnas::plugin {

std::uint64_t unacknowledged_bytes(const std::string& proc_net_tcp, std::uint16_t port) {
  std::uint64_t bytes = 0;
  for (const TcpSocket& socket : parse_tcp_table(proc_net_tcp)) {
    if (socket.local_port == port) bytes += socket.unacknowledged_bytes;
  }
  return bytes;
}

}  // namespace symnas::plugin

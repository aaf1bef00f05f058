#include "fsal_cluster/plugin/export_clients.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <atomic>
#include <cstring>

#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {
namespace {

std::atomic<std::uint64_t> next_serial{1};

// Whom this thread has noted last, and where.
struct Last {
  std::uint64_t serial = 0;
  in6_addr address{};
};
thread_local Last last;

// IPv4 as IPv6 has it.
in6_addr address_of(const sockaddr_storage& address) {
  in6_addr out{};
  if (address.ss_family == AF_INET6) {
    return reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  if (address.ss_family == AF_INET) {
    out.s6_addr[10] = out.s6_addr[11] = 0xff;
    std::memcpy(&out.s6_addr[12], &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
  }
  return out;
}

std::string text_of(const in6_addr& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    ::inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof text);
  } else {
    ::inet_ntop(AF_INET6, &address, text, sizeof text);
  }
  return text;
}

}  // namespace

ExportClients::ExportClients() : serial_(next_serial.fetch_add(1)) {}

void ExportClients::note(const sockaddr_storage& address) {
  const in6_addr who = address_of(address);
  if (last.serial == serial_ && std::memcmp(&last.address, &who, sizeof who) == 0) return;
  last = {serial_, who};
  const std::scoped_lock lock(mutex_);
  if (addresses_.size() < kExportClientsMax) addresses_.insert(text_of(who));
}

std::vector<std::string> ExportClients::all() const {
  const std::scoped_lock lock(mutex_);
  return {addresses_.begin(), addresses_.end()};
}

}  // namespace symnas::plugin

#include "fsal_cluster/plugin/export_clients.h"

#include <netinet/in.h>

#include <atomic>
#include <cstring>

#include "common/base/ip_text.h"
#include "fsal_cluster/plugin/client_address.h"
#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {
namespace {

std::atomic<std::uint64_t> next_serial{1};

// The address that this thread noted last, and for which export.
struct Last {
  std::uint64_t serial = 0;
  in6_addr address{};
};
thread_local Last last;

}  // namespace

ExportClients::ExportClients() : serial_(next_serial.fetch_add(1)) {}

void ExportClients::note(const sockaddr_storage& address) {
  const in6_addr who = client_address(address);
  if (last.serial == serial_ && std::memcmp(&last.address, &who, sizeof who) == 0) return;
  last = {serial_, who};
  const MutexLock lock(mutex_);
  if (addresses_.size() < kExportClientsMax) addresses_.insert(ip_text(who));
}

std::vector<std::string> ExportClients::all() const {
  const MutexLock lock(mutex_);
  return {addresses_.begin(), addresses_.end()};
}

}  // namespace symnas::plugin

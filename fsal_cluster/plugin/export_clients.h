// ExportClients: which addresses have used an export since it was made.
//
// Thread class: thread-safe; note() is called with every request and takes a mutex only when this
// thread has served somebody else, or another export, before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

struct sockaddr_storage;

namespace symnas::plugin {

class ExportClients {
 public:
  ExportClients();
  ExportClients(const ExportClients&) = delete;
  ExportClients& operator=(const ExportClients&) = delete;

  // Those beyond kExportClientsMax are not remembered.
  void note(const sockaddr_storage& address);
  // As people write them, in order.
  std::vector<std::string> all() const;

 private:
  const std::uint64_t serial_;  // no other one in this process has it
  mutable std::mutex mutex_;
  std::set<std::string> addresses_;
};

}  // namespace symnas::plugin

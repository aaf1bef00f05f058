// ExportClients: which addresses have used an export since it was made.
//
// Thread class: thread-safe. note() is called with every request; it takes a mutex only when this
// thread's request before had another client or another export.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/base/thread_annotations.h"

struct sockaddr_storage;

namespace symnas::plugin {

class ExportClients {
 public:
  ExportClients();
  ExportClients(const ExportClients&) = delete;
  ExportClients& operator=(const ExportClients&) = delete;

  // Notes the address. Beyond kExportClientsMax addresses are not remembered.
  void note(const sockaddr_storage& address);
  // The addresses as text, in order.
  std::vector<std::string> all() const;

 private:
  const std::uint64_t serial_;  // unique among the objects of this process
  mutable Mutex mutex_;
  std::set<std::string> addresses_ GUARDED_BY(mutex_);
};

}  // namespace symnas::plugin

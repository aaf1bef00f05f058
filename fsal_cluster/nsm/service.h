// Service: the network status monitor of one instance, in its process and network namespace. It
// receives the notices of clients that have booted (SM_NOTIFY), and has the locks released that
// they have lost. It sends none: no client loses a lock by a start of the server.
// docs/architecture/nsm.md.
//
// Thread class: thread-safe; owns two threads, which act in the network namespace of the thread
// that started it.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "common/base/unique_fd.h"
#include "fsal_cluster/nsm/reboots.h"
#include "fsal_cluster/nsm/status_monitor.h"

namespace symnas::nsm {

// The state number of an instance's life: odd, as that of a host that is up, and a new one for
// every start.
std::int32_t state_of_epoch(std::uint64_t epoch);

struct ServiceOptions {
  std::int32_t state = 0;
  Clients clients;
  // Whether everything that the client at `address` has lost is recorded as released.
  std::function<bool(const std::string& address)> is_released;
};

class Service {
 public:
  // Opens the ports and registers them; a port that cannot be registered is logged. Errors: kIo.
  static Result<std::unique_ptr<Service>> start(ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Tells that the client has lost its locks, as something else than its SM_NOTIFY has shown.
  void rebooted(const Reboot& reboot) {
    reboots_.add(reboot, [] {});
  }

 private:
  struct Connection {
    std::shared_ptr<UniqueFd> fd;  // shared with a reply that is due later
    Peer peer;
    std::string input;
  };

  Service(ServiceOptions options, UniqueFd udp, UniqueFd tcp);
  void run();
  void accept_connection();
  void answer_datagram();
  // False: the connection has ended.
  bool answer_stream(Connection& connection);
  void give(const Reply& reply, const Peer& peer, std::function<void(const std::string&)> send);

  const ServiceOptions options_;
  const UniqueFd udp_;
  const UniqueFd tcp_;
  const UniqueFd wake_;  // eventfd
  Reboots reboots_;

  // Confined to thread_.
  std::list<Connection> connections_;  // oldest first
  std::string last_refused_;

  Mutex mutex_;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace symnas::nsm

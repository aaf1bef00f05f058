// ClientWatcher: records which clients the instances of this head serve, for the head that may have
// to take over. Thread class: works on a loop of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <utility>

#include "vnfsd/daemon/follow/cluster_reader.h"
#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"

namespace symnas::vnfsd::daemon {

// Ways to look into an instance's network namespace. The calls block for milliseconds.
struct ClientSights {
  // How many connections the instance has accepted (instance::accepted_by). Errors: as there.
  std::function<Result<std::uint64_t>(int pid)> accepted;
  // The connections, in order, so that equal connections are equal records. Errors: the namespace
  // cannot be read.
  std::function<Result<records::ConnectionsRecord>(int pid, const std::string& control)> connected;
};
ClientSights kernel_sights();

class ClientWatcher {
 public:
  ClientWatcher(const ThisHead& head, ClusterReader& reader, const Instances& instances,
                ClientSights sights, std::stop_token end);

  void start();
  // Waits for the loop. REQUIRES: the end was asked for.
  void join() { loop_.join(); }
  // One turn of the loop. REQUIRES: it was not started.
  void look();

 private:
  using Serving = std::map<std::string, instance::InstanceSnapshot>;
  void record_connections(const ClusterView& view, const Serving& serving);
  // Leaves in `serving` the instances, by VNFS, that have accepted connections since their records
  // were made.
  void keep_those_with_new_clients(Serving& serving);

  const ThisHead& head_;
  ClusterReader& reader_;
  const Instances& instances_;
  const ClientSights sights_;
  std::int64_t recorded_ms_ = 0;
  // Pid and number of accepted connections at the time of the record in c/conn, by VNFS.
  std::map<std::string, std::pair<int, std::uint64_t>> recorded_clients_;
  Loop loop_;  // last
};

}  // namespace symnas::vnfsd::daemon

// EtcdCluster: real etcd members on loopback, for contract tests. Each member is a child process
// with its data in a temporary directory; the destructor ends them (by pid) and removes the
// directory.
//
// Thread class: thread-compatible. Members die with the thread that started them
// (PR_SET_PDEATHSIG).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/etcd/etcd_store.h"

namespace symnas::kv::testing {

struct EtcdClusterOptions {
  enum class Security { kPlain, kTls };
  int members = 1;
  Security security = Security::kPlain;
  std::vector<std::string> arguments;  // further arguments for every member
  int network_namespace_fd = -1;       // where the members live; -1: in the caller's
};

class EtcdCluster {
 public:
  // Empty when the etcd binary is there, else why not: for GTEST_SKIP.
  static std::string missing();

  // Starts all members; does not wait until they serve.
  explicit EtcdCluster(EtcdClusterOptions options);
  ~EtcdCluster();
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;

  // Options for a client of this cluster.
  EtcdOptions client_options() const;
  std::string file(const std::string& name) const { return directory_ + "/" + name; }

  // Waits until a transaction succeeds. REQUIRES: a store of this cluster.
  static Status wait_until_serving(Store& store, std::int64_t deadline_ms);
  // The index of the leader, as status() tells it; -1 when none is known.
  static int leader(Store& store);

  // Address in the member's endpoint: without TLS each member has its own.
  std::string host(int member) const;
  // Whether the caller's thread can connect to the member's client port.
  bool accepts_connections_here(int member) const;

  void kill(int member);     // SIGKILL, reaped
  void restart(int member);  // REQUIRES: killed
  void pause(int member);    // SIGSTOP
  void resume(int member);   // SIGCONT

 private:
  struct Process {
    int client_port = 0;
    int peer_port = 0;
    pid_t pid = -1;
  };
  void start(int member);
  std::string url(const std::string& host, int port) const;
  std::string client_url(int member) const;
  std::vector<std::string> command(int member) const;

  EtcdClusterOptions options_;
  std::string directory_;
  std::vector<Process> processes_;
};

}  // namespace symnas::kv::testing

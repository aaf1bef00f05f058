// EtcdStore: the Store on a real etcd cluster, over gRPC's asynchronous API.
//
// One thread sends (connects, starts calls), one thread receives (the completion queue) and calls
// back; both live in the given network namespace, so the caller's threads may live in any other.
// gRPC is process-wide: all EtcdStores of a process must name the same namespace, and nothing else
// in the process may use gRPC before the first is opened.
//
// A try goes to the current member (at first to the first endpoint, if that can be reached); when
// it fails, the next try goes to the next member that is connected. Members must run with
// --max-txn-ops 2048 and --grpc-keepalive-min-time 1s.
//
// Thread class: thread-safe. Order of destruction: watches may be destroyed before or after the
// store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/kv/store.h"

namespace symnas::kv {

namespace etcd {
class Loop;
}  // namespace etcd

struct EtcdOptions {
  std::vector<std::string>
      endpoints;          // "https://10.0.0.1:2379" or "http://...", in the order of preference
  std::string ca_file;    // PEM; needed for https
  std::string cert_file;  // PEM, the client's certificate; both this and key_file, or neither
  std::string key_file;
  std::string
      network_namespace;  // path of the namespace of the store's threads; empty: the caller's
};

class EtcdStore final : public Store {
 public:
  // Starts the threads. Does not wait for a connection; each try does.
  // Errors: kInvalidArgument (no or malformed endpoint, https without ca_file, a file that cannot
  // be read), kPermission or kNotFound (the network namespace cannot be entered).
  static Result<std::unique_ptr<EtcdStore>> open(const EtcdOptions& options);

  // Pending callbacks get kShutdown, watches end with kShutdown. REQUIRES: not called on a thread
  // of the store.
  ~EtcdStore() override;
  EtcdStore(const EtcdStore&) = delete;
  EtcdStore& operator=(const EtcdStore&) = delete;

  // Additional errors: kPermission (the client certificate has no access).
  void txn(Txn txn, TryOptions options, TxnCallback done) override;
  std::unique_ptr<Watch> watch(KeyRange range, Revision start_revision,
                               WatchHandler* handler) override;
  // Errors: as txn, kCompacted (done before), kOutOfRange (beyond the current revision).
  Status compact(Revision revision, TryOptions options) override;
  std::vector<MemberStatus> status(TryOptions options) override;

  // Somebody has found out, sooner than TCP does, that the member at `host` (as in the endpoints)
  // is gone. Calls that wait for that member are sent to another one or get the error of a lost
  // connection, and watches at that member end with kUnavailable. A wrong guess costs no more than
  // that: the member is used again when the others fail. A host that is no endpoint has no effect.
  void leave(const std::string& host);

 private:
  explicit EtcdStore(std::shared_ptr<etcd::Loop> loop) : loop_(std::move(loop)) {}
  std::shared_ptr<etcd::Loop> loop_;
};

}  // namespace symnas::kv

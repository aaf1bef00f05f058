// Members: one gRPC channel per etcd endpoint, and which of them is the current one.
//
// Thread class: confined to the sending thread, except failed(), which is thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/etcd/etcd_store.h"
#include "common/kv/etcd/rpc.grpc.pb.h"

namespace symnas::kv::etcd {

// An endpoint and the credentials, read from their files: what a channel is made of.
struct Target {
  enum class Security { kPlain, kTls };
  std::string endpoint;  // as given, for people
  std::string address;   // host:port
  std::string host;      // without brackets
  Security security = Security::kPlain;
};
struct Connection {
  std::vector<Target> targets;
  grpc::SslCredentialsOptions tls;  // never logged
};
// Errors: as EtcdStore::open.
Result<Connection> read_connection(const EtcdOptions& options);

struct Member {
  std::size_t index = 0;
  std::string endpoint;
  std::string host;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<etcdserverpb::KV::Stub> kv;
  std::unique_ptr<etcdserverpb::Watch::Stub> watch;
  std::unique_ptr<etcdserverpb::Maintenance::Stub> maintenance;
  // Until then this member is chosen only if no other is connected.
  std::chrono::steady_clock::time_point left_until;
};

class Members {
 public:
  // Makes the channels and starts to connect all of them.
  explicit Members(const Connection& connection);

  // The current member if it is connected, else the next one that is (which becomes the current
  // one), else null. Members that were left (see leave()) are chosen only if there is no other. A
  // new store waits for the first member kFirstChoiceMs longer than another one needed.
  Member* connected();
  // Reopens lost connections.
  void keep_connecting();
  // A try at this member failed: if it is the current one, the next one becomes current.
  void failed(std::size_t index);
  // As failed(); the member is not chosen again before its connection would have been found dead.
  void leave(std::size_t index);

  std::size_t current() const { return current_.load(); }
  std::size_t size() const { return members_.size(); }
  Member& at(std::size_t index) { return members_.at(index); }

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  bool may_still_take_first(SteadyTime now);

  std::vector<Member> members_;
  bool settled_ = false;
  std::optional<SteadyTime> another_since_;  // another member connected, the first did not
  std::atomic<std::size_t> current_ = 0;
};

}  // namespace symnas::kv::etcd

// Members: one gRPC channel per etcd endpoint, and which of them is the current one.
//
// Thread class: confined to the sending thread, except failed(), which is thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <memory>
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
};

class Members {
 public:
  // Makes the channels and starts to connect all of them.
  explicit Members(const Connection& connection);

  // The current member if it is connected, else the next one that is (which becomes the current
  // one), else null. At first, for kFirstChoiceMs, only the first one, while it may still connect.
  Member* connected();
  // Reopens lost connections.
  void keep_connecting();
  // A try at this member went wrong: if it is still the current one, the next one is from now on.
  void failed(std::size_t index);

  std::size_t current() const { return current_.load(); }
  std::size_t size() const { return members_.size(); }
  Member& at(std::size_t index) { return members_.at(index); }

 private:
  std::vector<Member> members_;
  std::chrono::steady_clock::time_point first_choice_until_;
  std::atomic<std::size_t> current_ = 0;
};

}  // namespace symnas::kv::etcd

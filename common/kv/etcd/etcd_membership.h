// EtcdMembership: the members of a real etcd cluster, for administrative calls. It has its own
// channels and works on the caller's thread, in the caller's network namespace.
//
// Thread class: thread-safe. REQUIRES: an EtcdStore is open in this process (gRPC is process-wide:
// etcd_store.h).
#pragma once

#include <memory>

#include "common/kv/etcd/etcd_store.h"
#include "common/kv/membership.h"

namespace symnas::kv {

class EtcdMembership final : public Membership {
 public:
  // Errors: as EtcdStore::open. REQUIRES: options.network_namespace is empty.
  static Result<std::unique_ptr<EtcdMembership>> open(const EtcdOptions& options);
  ~EtcdMembership() override;

  Result<std::vector<StoreMember>> members() override;
  Result<std::vector<StoreMember>> add_learner(const std::string& peer_url) override;
  Status promote(std::uint64_t id) override;
  Status remove(std::uint64_t id) override;

 private:
  class Channels;
  explicit EtcdMembership(std::unique_ptr<Channels> channels);
  std::unique_ptr<Channels> channels_;
};

}  // namespace symnas::kv

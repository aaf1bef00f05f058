// FakeMembership: etcd with a voter, c1n1, and a learner, c1n2. For tests.
#pragma once

#include <string>
#include <vector>

#include "common/kv/membership.h"
#include "vnfsd/daemon/upkeep/members.h"

namespace symnas::vnfsd::daemon {

class FakeMembership final : public kv::Membership {
 public:
  using Role = kv::StoreMember::Role;

  Result<std::vector<kv::StoreMember>> members() override { return all; }
  Result<std::vector<kv::StoreMember>> add_learner(const std::string&) override { return all; }
  Status promote(std::uint64_t id) override {
    if (!caught_up) return fail(ErrorCode::kBusy, "it has not caught up");
    for (kv::StoreMember& member : all) {
      if (member.id == id) member.role = Role::kVoter;
    }
    return {};
  }
  Status remove(std::uint64_t id) override {
    std::erase_if(all, [&](const kv::StoreMember& member) { return member.id == id; });
    return {};
  }

  std::vector<kv::StoreMember> all{
      {1, "c1n1", etcd_peer_url("10.99.0.1"), etcd_client_url("10.99.0.1"), Role::kVoter},
      {2, "c1n2", etcd_peer_url("10.99.0.2"), etcd_client_url("10.99.0.2"), Role::kLearner}};
  bool caught_up = true;
};

}  // namespace symnas::vnfsd::daemon

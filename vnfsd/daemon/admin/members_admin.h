// MembersAdmin: shows, adds and removes the members of etcd. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/kv/membership.h"
#include "vnfsd/api/backends.h"
#include "vnfsd/daemon/head/this_head.h"

namespace symnas::vnfsd::daemon {

class MembersAdmin final : public api::MembersBackend {
 public:
  // `membership`: null = etcd's members are left alone (kNotSupported everywhere).
  MembersAdmin(const ThisHead& head, kv::Membership* membership)
      : head_(head), membership_(membership) {}

  Result<nlohmann::json> etcd_members() override;
  Result<std::string> remove_etcd_member(const std::string& name, Mode mode) override;

  // Adds a learner for the head `name`; returns etcd's initial-cluster for it. Errors: as
  // Membership, kAlreadyExists.
  Result<std::vector<std::string>> add_etcd_learner(const std::string& name,
                                                    const std::string& address);
  // The etcd member of the head; nullopt: it has none. Errors: kBusy (the others would have no
  // quorum without it), as Membership::members().
  Result<std::optional<kv::StoreMember>> spare_member(const std::string& head);
  // REQUIRES: spare_member() has returned this member. Errors: as Membership.
  Status remove(const kv::StoreMember& member) { return membership_->remove(member.id); }

 private:
  const ThisHead& head_;
  kv::Membership* const membership_;
};

}  // namespace symnas::vnfsd::daemon

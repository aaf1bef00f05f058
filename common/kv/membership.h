// Membership: lists and changes the members of the store's cluster. Two back ends: EtcdMembership,
// and fakes of tests.
//
// Thread class: thread-safe; every call blocks, at most kMembershipDeadlineMs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace symnas::kv {

// Deadline of a change. etcd answers a change of its members only after it is applied, and an
// election may come first.
inline constexpr std::int64_t kMembershipDeadlineMs = 5'000;

struct StoreMember {
  std::uint64_t id = 0;
  std::string name;  // "" = added, never started
  std::string peer_url;
  std::string client_url;  // "" = never started
  enum class Role { kVoter, kLearner } role = Role::kVoter;
};

class Membership {
 public:
  virtual ~Membership() = default;
  // Linearizable. Errors: kUnavailable, kPermission.
  virtual Result<std::vector<StoreMember>> members() = 0;
  // Adds a member that does not count for the quorum until it is promoted; returns the members
  // after the change. Errors: kBusy (there is another learner, the URL is taken, or too few members
  // are healthy: the message says which), kUnavailable, kUnknownOutcome (look at members()),
  // kPermission.
  virtual Result<std::vector<StoreMember>> add_learner(const std::string& peer_url) = 0;
  // Makes a learner a voter. Errors: kBusy (it has not caught up with the leader yet: try again
  // later), kNotFound; else as add_learner().
  virtual Status promote(std::uint64_t id) = 0;
  // Errors: kNotFound, kBusy (the others would have no quorum); else as add_learner().
  virtual Status remove(std::uint64_t id) = 0;
};

}  // namespace symnas::kv

// Membership: who the members of the store's cluster are, and changes of that. Two back ends:
// EtcdMembership, and fakes of tests.
//
// Thread class: thread-safe; every call blocks, at most kMembershipDeadlineMs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace symnas::kv {

// Of a change. etcd answers changes of its members only after they are applied: an election may lie
// between.
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
  // Adds a member that does not count for the quorum until it is promoted; answers the members as
  // they are then. Errors: kBusy (another learner is there, the URL is taken, too few members are
  // healthy: the message says which), kUnavailable, kUnknownOutcome (look at members()),
  // kPermission.
  virtual Result<std::vector<StoreMember>> add_learner(const std::string& peer_url) = 0;
  // A learner becomes a voter. Errors: kBusy (it has not caught up with the leader yet: again
  // later), kNotFound; else as add_learner().
  virtual Status promote(std::uint64_t id) = 0;
  // Errors: kNotFound, kBusy (the others would have no quorum); else as add_learner().
  virtual Status remove(std::uint64_t id) = 0;
};

}  // namespace symnas::kv

// LockTable: knows which owner holds which byte ranges of which inode. Pure: no clock, no store;
// FileLocks feeds it.
//
// Thread class: thread-compatible.
// Invariants: two owners never hold overlapping ranges of which one is exclusive. A held range goes
// away only by unlock, or by revocation of everything that its client has not come back for
// (INV-7).
// Semantics of ranges and of a change between shared and exclusive: fcntl(2) F_SETLK.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"

namespace symnas::fs {

enum class LockMode { kShared, kExclusive };
enum class LockProtocol { kNfs4, kNlm };

struct LockRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;  // inclusive; UINT64_MAX = to the end of the file
  LockMode mode = LockMode::kShared;
  friend bool operator==(const LockRange&, const LockRange&) = default;
};

inline constexpr LockRange kWholeFile{0, UINT64_MAX, LockMode::kExclusive};

struct LockOwner {
  LockProtocol protocol = LockProtocol::kNfs4;
  std::string client;
  std::string owner;
  friend auto operator<=>(const LockOwner&, const LockOwner&) = default;
};

// The life of a client in which it locks. A client in another life has lost what it locked in this
// one. Empty: the client has not told its life.
struct ClientLife {
  std::int32_t nsm_state = 0;  // NLM: grows with each life, and may wrap; 0: not told
  std::string verifier;        // NFSv4
  friend bool operator==(const ClientLife&, const ClientLife&) = default;
};
// True when an NLM client lived as `a` before it lived as `b`; false when either is not told.
bool is_former_life(std::int32_t a, std::int32_t b);
// True when an NLM client that lives as `now` has lost a lock of life `locked_in`: of a former
// life, or of one that it has not told.
bool is_lost_by_notice(std::int32_t locked_in, std::int32_t now);
// True when both lives are told and differ. A lock of a life that was not told stays, and belongs
// to the life that locks next.
bool is_another_life(const ClientLife& a, const ClientLife& b);

struct LockConflict {
  LockOwner holder;
  LockRange range;
};

// The ranges of one owner after it has locked `range` (which replaces what it held there) or
// unlocked [start, end].
std::vector<LockRange> with_range(std::vector<LockRange> held, const LockRange& range);
std::vector<LockRange> without_range(std::vector<LockRange> held, std::uint64_t start,
                                     std::uint64_t end);
// The parts of `held` that lie within `bounds`, and the parts that do not, whatever the modes of
// `bounds`. REQUIRES: both are as with_range() and without_range() leave them: in order, and no
// byte twice.
std::vector<LockRange> within(const std::vector<LockRange>& held,
                              const std::vector<LockRange>& bounds);
std::vector<LockRange> outside(const std::vector<LockRange>& held,
                               const std::vector<LockRange>& bounds);
// All that somebody else may hold beside these ranges of any owners, in any order.
std::vector<LockRange> compatible_with(std::vector<LockRange> others);
// True when a byte of `range` is held, in whatever mode.
bool overlaps(const std::vector<LockRange>& held, const LockRange& range);
// True when every byte of `range` is held in its mode.
bool covers(const std::vector<LockRange>& held, const LockRange& range);
// True when every byte of `range` is held in its mode or a stronger one.
bool covers_at_least(const std::vector<LockRange>& held, const LockRange& range);

class LockTable {
 public:
  using Key = std::pair<Ino, LockOwner>;  // what one owner holds on one inode

  // A range of another owner that conflicts with `range`; nullopt: it may be granted.
  std::optional<LockConflict> conflict(Ino ino, const LockOwner& owner,
                                       const LockRange& range) const;
  const std::vector<LockRange>& held(Ino ino, const LockOwner& owner) const;
  // Replaces what the owner holds on the inode; empty = nothing.
  void set(Ino ino, const LockOwner& owner, std::vector<LockRange> ranges);
  // The keys of one client; those of all clients of a protocol.
  std::vector<Key> of_client(LockProtocol protocol, const std::string& client) const;
  std::vector<Key> of_protocol(LockProtocol protocol) const;
  std::size_t size() const { return held_.size(); }  // keys

 private:
  std::map<Key, std::vector<LockRange>> held_;
};

}  // namespace symnas::fs

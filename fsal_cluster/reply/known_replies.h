// KnownReplies: what former instances of a VNFS have done for one client, as their records say.
// Thread-compatible; pure.
//
// Invariant: a wrong answer is worse than none. Left out are records that cannot be read, records
// of this epoch or a later one, records older than kReplyAgeMaxNs, and calls that were recorded
// twice (their client uses one xid for several requests).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/kv/store.h"
#include "fsal_cluster/reply/call.h"

namespace symnas::fs {

// An operation that was carried out with success.
struct Done {
  Ino ino;  // of the object that was made or changed; 0: the answer names none
  Generation generation;
  friend bool operator==(const Done&, const Done&) = default;
};

class KnownReplies {
 public:
  KnownReplies() = default;
  // `records`: every key of keys::replies_to() that client. `own`: the epoch of this instance.
  // `now_ns`: filesystem time when it began.
  KnownReplies(const std::vector<kv::KeyValue>& records, Epoch own, std::int64_t now_ns);

  // REQUIRES: a call of that client.
  std::optional<Done> find(const Call& call) const;
  std::size_t size() const { return calls_.size(); }  // for tests

 private:
  struct Id {
    std::uint32_t xid;
    std::uint64_t checksum;
    std::uint32_t operation;
    friend bool operator==(const Id&, const Id&) = default;
  };
  struct Hash {
    std::size_t operator()(const Id& id) const {
      return static_cast<std::size_t>(id.checksum ^ (std::uint64_t{id.xid} << 32) ^ id.operation);
    }
  };
  std::unordered_map<Id, std::optional<Done>, Hash> calls_;  // nullopt: recorded twice
};

}  // namespace symnas::fs

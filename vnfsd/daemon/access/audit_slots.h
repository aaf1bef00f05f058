// AuditSlots: over which of a head's entries in etcd the next one is written. Thread-compatible,
// pure. Invariant: entries of one credential that changed nothing (refused, failed, dry runs) hold
// at most kAuditNothingPerWho slots, so that nobody pushes the others out by asking again and
// again.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "vnfsd/records/access.pb.h"

namespace symnas::vnfsd::daemon {

class AuditSlots {
 public:
  // The entry is in that slot, and what was there before is not.
  void put(std::uint64_t slot, const records::AuditRecord& entry);
  // Below kAuditPerHead: an empty one, else that of the oldest entry; of a credential that has its
  // share, that of its own oldest entry that changed nothing.
  std::uint64_t slot_for(const records::AuditRecord& entry) const;
  // After those of all that were put; from 1.
  std::uint64_t next_sequence() const { return last_ + 1; }

 private:
  struct Held {
    std::uint64_t sequence = 0;
    std::string who;
    bool changed = false;
  };
  std::map<std::uint64_t, Held> held_;  // by slot
  std::uint64_t last_ = 0;
};

// Whether what it tells of was done.
bool changed_something(const records::AuditRecord& entry);

}  // namespace symnas::vnfsd::daemon

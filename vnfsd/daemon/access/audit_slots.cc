#include "vnfsd/daemon/access/audit_slots.h"

#include <algorithm>

#include "vnfsd/daemon/access/limits.h"

namespace symnas::vnfsd::daemon {

bool changed_something(const records::AuditRecord& entry) { return entry.outcome() == "done"; }

void AuditSlots::put(std::uint64_t slot, const records::AuditRecord& entry) {
  held_[slot] = {entry.sequence(), entry.who(), changed_something(entry)};
  last_ = std::max(last_, entry.sequence());
}

std::uint64_t AuditSlots::slot_for(const records::AuditRecord& entry) const {
  using Slot = decltype(held_)::value_type;
  const auto is_older = [](const Slot* a, const Slot& b) {
    return a == nullptr || b.second.sequence < a->second.sequence;
  };
  const Slot* oldest = nullptr;
  const Slot* own = nullptr;  // the oldest of its own that changed nothing
  std::uint64_t own_count = 0;
  for (const Slot& one : held_) {
    if (is_older(oldest, one)) oldest = &one;
    if (one.second.changed || one.second.who != entry.who()) continue;
    ++own_count;
    if (is_older(own, one)) own = &one;
  }
  if (!changed_something(entry) && own_count >= kAuditNothingPerWho) return own->first;
  if (held_.size() >= kAuditPerHead) return oldest->first;
  std::uint64_t empty = 0;
  while (held_.contains(empty)) ++empty;
  return empty;
}

}  // namespace symnas::vnfsd::daemon

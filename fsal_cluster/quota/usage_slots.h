// UsageSlots: the slots of one mount: which operation has which, and what each record says.
//
// Thread class: thread-compatible; AccountingSession's mutex guards it. Pure.
// Invariant: a slot that is taken is written by nobody else, so that its record is `usages` before,
// and what was taken for it after, the transaction of the operation that took it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fsal_cluster/quota/subject.h"

namespace symnas::fs {

class UsageSlots {
 public:
  struct Taken {
    std::uint32_t slot = 0;
    Usages after;  // what its record says when the transaction succeeds
  };
  // Takes the first free slot that has room for these subjects, or a new one. nullopt: all are
  // taken.
  std::optional<Taken> take(const Usages& delta);
  enum class Outcome : std::uint8_t { kSucceeded, kNothing };
  void give_back(Taken taken, Outcome outcome);
  // Slots that are half full, taken ones too.
  std::size_t full() const { return full_; }
  // Takes a full slot, for folding: `after` is empty. nullopt: there is none.
  struct Full {
    Taken taken;
    Usages usages;
  };
  std::optional<Full> take_full();
  // Counting has begun anew: slots given back from now on are empty.
  void restart() {
    slots_.clear();
    full_ = 0;
  }

 private:
  struct Slot {
    Usages usages;
    bool taken = false;
  };
  static bool is_full(const Slot& slot);

  std::vector<Slot> slots_;
  std::size_t full_ = 0;
};

}  // namespace symnas::fs

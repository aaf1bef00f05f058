#include "fsal_cluster/quota/usage_slots.h"

#include <utility>

#include "fsal_cluster/quota/limits.h"

namespace symnas::fs {
namespace {

std::size_t subjects_after(const Usages& usages, const Usages& delta) {
  std::size_t count = usages.size();
  for (const auto& [subject, usage] : delta) count += usages.contains(subject) ? 0 : 1;
  return count;
}

}  // namespace

bool UsageSlots::is_full(const Slot& slot) { return slot.usages.size() >= kUsageCountsMax / 2; }

std::optional<UsageSlots::Taken> UsageSlots::take(const Usages& delta) {
  std::size_t i = 0;
  for (;; ++i) {
    if (i == slots_.size()) {
      if (i == kUsageSlotsMax) return std::nullopt;
      slots_.emplace_back();
    }
    const Usages& usages = slots_[i].usages;
    if (slots_[i].taken) continue;
    if (!usages.empty() && subjects_after(usages, delta) > kUsageCountsMax) continue;
    Usages after = usages;
    add(after, delta);
    slots_[i].taken = true;
    return Taken{static_cast<std::uint32_t>(i), std::move(after)};
  }
}

void UsageSlots::give_back(Taken taken, Outcome outcome) {
  Slot& slot = slots_.at(taken.slot);
  slot.taken = false;
  if (outcome != Outcome::kSucceeded) return;
  full_ -= is_full(slot) ? 1 : 0;
  slot.usages = std::move(taken.after);
  full_ += is_full(slot) ? 1 : 0;
}

std::optional<UsageSlots::Full> UsageSlots::take_full() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.taken || !is_full(slot)) continue;
    slot.taken = true;
    return Full{{static_cast<std::uint32_t>(i), {}}, slot.usages};
  }
  return std::nullopt;
}

}  // namespace symnas::fs

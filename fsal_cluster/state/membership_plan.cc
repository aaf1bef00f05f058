#include "fsal_cluster/state/membership_plan.h"

#include <algorithm>
#include <limits>

#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

constexpr std::int64_t kTakeOverDelayMaxNs = kTakeOverDelayMaxMs * 1'000'000;
constexpr std::int64_t kNeverNs = std::numeric_limits<std::int64_t>::max();

}  // namespace

MembershipStep MembershipPlan::next(const MembershipView& view, std::int64_t now_ns,
                                    std::uint64_t random) {
  using Kind = MembershipStep::Kind;
  const bool has_solo = view.solo && view.solo->holder == view.self;
  if (has_solo && view.solo_wanted && !view.draining) return {Kind::kMakeRoom, {}, {}};

  std::erase_if(due_ns_, [&](const auto& entry) {
    return std::ranges::none_of(view.ended,
                                [&](const Peers::Ended& ended) { return ended.id == entry.first; });
  });
  MembershipStep step;
  const auto wake_by = [&step](std::int64_t at_ns) {
    step.wake_ns = std::min(step.wake_ns.value_or(at_ns), at_ns);
  };
  // Stays that have to end may wait for something that an ended mount has left.
  if (view.draining) wake_by(now_ns + kDrainPollNs);
  for (const Peers::Ended& ended : view.ended) {
    const std::int64_t delay_ns = (ended.clean ? kTakeOverAfterCloseNs : 0) +
                                  static_cast<std::int64_t>(random % kTakeOverDelayMaxNs);
    const std::int64_t due_ns = due_ns_.try_emplace(ended.id, now_ns + delay_ns).first->second;
    if (due_ns <= now_ns) return {Kind::kTakeOver, ended.id, {}};
    if (due_ns != kNeverNs) wake_by(due_ns);
  }

  const bool may_be_sole = view.mode == Membership::Mode::kShared && !view.draining &&
                           view.no_others && !view.solo_wanted && (!view.solo || has_solo);
  if (!may_be_sole) {
    alone_since_ns_.reset();
    return step;
  }
  if (!alone_since_ns_) alone_since_ns_ = now_ns;
  const std::int64_t sole_ns =
      std::max(has_solo ? now_ns : *alone_since_ns_ + kSoloAfterNs, not_sole_before_ns_);
  if (sole_ns <= now_ns) return {Kind::kBecomeSole, {}, {}};
  wake_by(sole_ns);
  return step;
}

void MembershipPlan::taken_over(MountId ended) { due_ns_[ended] = kNeverNs; }

void MembershipPlan::failed(const MembershipStep& step, std::int64_t retry_ns) {
  if (step.kind == MembershipStep::Kind::kTakeOver) due_ns_[step.ended] = retry_ns;
  if (step.kind == MembershipStep::Kind::kBecomeSole) not_sole_before_ns_ = retry_ns;
}

}  // namespace symnas::fs

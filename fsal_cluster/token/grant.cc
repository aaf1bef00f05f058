#include "fsal_cluster/token/grant.h"

namespace symnas::fs {

GrantStep next_grant_step(const TokenSight& sight, MountId mine, TokenMode needed) {
  if (!sight.complete) return GrantStep::kWait;
  const bool asked_by_me = sight.want && sight.want->mount == mine;
  if (sight.want && !asked_by_me) return GrantStep::kWait;
  const bool in_the_way = needed == TokenMode::kExclusive ? sight.foreign : sight.foreign_exclusive;
  if (!in_the_way) return GrantStep::kGrant;
  return asked_by_me ? GrantStep::kWait : GrantStep::kAsk;
}

TokenMode mode_to_take(const TokenSight& sight, TokenMode needed) {
  return sight.foreign || sight.want ? needed : TokenMode::kExclusive;
}

}  // namespace symnas::fs

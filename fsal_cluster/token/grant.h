// Grants: decides what a mount that needs a token of an inode does next. Pure.
#pragma once

#include <cstdint>

#include "common/base/ids.h"
#include "fsal_cluster/token/token_table.h"

namespace symnas::fs {

// What a token allows, in ascending strength. kNone: READ with a barrier each. kShared: READ, and
// WRITE in place; the map stands still. kExclusive: everything.
enum class TokenMode : std::uint8_t { kNone, kShared, kExclusive };

enum class GrantStep : std::uint8_t {
  kGrant,  // no token is in the way as of sight.at: put the token
  kAsk,    // a token is in the way, and nobody has asked for it: put the want
  kWait,   // somebody has asked, or nothing is known: wait for a change
};
// REQUIRES: needed is not kNone.
GrantStep next_grant_step(const TokenSight& sight, MountId mine, TokenMode needed);

// The strongest mode that no token or want is in the way of, at least `needed`: so a file that no
// other mount uses needs one transaction, not two. A mount that had to ask takes only what it asked
// for: the mount that gave its token will be back.
TokenMode mode_to_take(const TokenSight& sight, TokenMode needed);

}  // namespace symnas::fs

// GETATTR (RFC 1813 3.3.1).
#pragma once

#include <optional>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Errors: kStale, kCorrupt, Session::read. Cost: one read, two for a directory; from the cache a
// microsecond.
Result<Attributes> getattr(Context& context, const Handle& handle);
// As getattr(), but never waits; nullopt: memory alone cannot tell. That an inode does not exist is
// answered only under a current sole stay.
std::optional<Result<Attributes>> getattr_from_cache(Context& context, const Handle& handle,
                                                     Freshness freshness = Freshness::kStrict);

}  // namespace symnas::fs

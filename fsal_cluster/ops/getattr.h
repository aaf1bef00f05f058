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
// The same without ever waiting; nullopt: memory alone cannot tell. What does not exist is told
// strictly only.
std::optional<Result<Attributes>> getattr_from_cache(Context& context, const Handle& handle,
                                                     Freshness freshness = Freshness::kStrict);

}  // namespace symnas::fs

// READDIR and READDIRPLUS (RFC 1813 3.3.16, 3.3.17).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Entries after `cookie` (0 = from the start) in cookie order, at most entries_max and
// kDirectoryPageMax; "." and ".." are not among them. Entries that are removed meanwhile are left
// out. A cookie stays valid when its entry is removed. Errors: kBadCookie, kStale, kNotDirectory,
// Session::read and range. Cost: one linearizable range read per page, inodes in reads of
// kReadKeysMax keys.
Result<DirectoryPage> readdir(Context& context, const Handle& directory, std::uint64_t cookie,
                              std::size_t entries_max);

}  // namespace symnas::fs

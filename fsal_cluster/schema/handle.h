// Wire form of a file handle: docs/formats/handle.md. Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

inline constexpr std::size_t kHandleBytes = 26;
inline constexpr std::size_t kHandleBytesMax =
    48;  // NFSv3: 64 less ganesha's header (RFC 1813, 2.4)
static_assert(kHandleBytes <= kHandleBytesMax);

// The kHandleBytes bytes that clients keep.
std::string encode_handle(const Handle& handle);

// Errors: kBadHandle (not a handle of symnas: length, version, kind or checksum is wrong), kStale
// (a handle of another filesystem than `expected`).
Result<Handle> decode_handle(std::string_view bytes, FsId expected);

}  // namespace symnas::fs

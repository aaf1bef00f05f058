// populate: what the damages (damages.h) are planted into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "fsal_cluster/mount/mount.h"

namespace symnas::fs::test {

inline const Credentials kSuper{0, 0, {}};

// Writes bytes 'x' and returns when they are stable.
using WriteStable =
    std::function<void(const Handle& file, std::uint64_t offset, std::size_t bytes)>;

// Directories three deep, small and large files, hard links, a symlink, a fifo, holes, a file
// unlinked while open, extended attributes, renames and removals; everything committed. Fails the
// process when something goes wrong. REQUIRES: the filesystem is new, and nobody else works in it.
void populate(Mount& mount, const WriteStable& write);

}  // namespace symnas::fs::test

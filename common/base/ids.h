// Identifiers and offsets used across folders. Mixing two of them must not compile.
#pragma once

#include <cstdint>

#include "common/base/strong.h"

namespace symnas {

using Revision = Strong<struct RevisionTag, std::int64_t>;       // etcd revision; 0 = none
using FsId = Strong<struct FsIdTag, std::uint32_t>;              // cluster-unique, never reused
using Ino = Strong<struct InoTag, std::uint64_t>;                // inode number; never reused
using Generation = Strong<struct GenerationTag, std::uint64_t>;  // of an inode number
using MapGeneration = Strong<struct MapGenerationTag, std::uint32_t>;
using MountId = Strong<struct MountIdTag, std::uint64_t>;      // never reused; 0 = none
using Epoch = Strong<struct EpochTag, std::uint64_t>;          // cluster-wide instance counter
using VnfsId = Strong<struct VnfsIdTag, std::uint32_t>;        // cluster-unique; its OFD lock byte
using LunIndex = Strong<struct LunIndexTag, std::uint32_t>;    // position in a volume's LUN list
using LunOffset = Strong<struct LunOffsetTag, std::uint64_t>;  // bytes from the LUN's first byte
using VolumeOffset = Strong<struct VolumeOffsetTag, std::uint64_t>;  // bytes from volume start
using FileOffset = Strong<struct FileOffsetTag, std::uint64_t>;      // bytes from file start

}  // namespace symnas

// Bounds of names, each with its reason.
#pragma once

#include <cstddef>

namespace symnas::vnfsd {

inline constexpr std::size_t kNameCharsMax = 63;  // a DNS label: VNFS and head names are host names
inline constexpr std::size_t kExportPathBytesMax = 1023;  // MNTPATHLEN of RFC 1813 is 1024

}  // namespace symnas::vnfsd

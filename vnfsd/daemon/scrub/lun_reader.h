// Reads a part of a LUN to find out whether it can be read. Blocks; thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace symnas::vnfsd::daemon {

struct BadRun {
  std::uint64_t byte = 0;
  std::uint64_t bytes = 0;
  std::string error;
};
// As cvm::LunDevice::read().
using ReadLun = std::function<Status(std::uint64_t, std::span<std::byte>)>;

// The bad blocks of [byte, byte + bytes), neighbours joined. Both are multiples of
// kScrubBlockBytes, bytes is at most kScrubReadBytes. A block is bad if it cannot be read twice,
// and `reachable` (a read of the label) succeeds between. Errors: those of `read` but kIo, those of
// `reachable`: nothing is known of the blocks then.
Result<std::vector<BadRun>> find_bad(const ReadLun& read, const std::function<Status()>& reachable,
                                     std::uint64_t byte, std::uint64_t bytes);

}  // namespace symnas::vnfsd::daemon

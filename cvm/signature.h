// Whether somebody else's data is on a device: filesystem, RAID or LVM member, partition table
// (libblkid). Thread-safe: a function without state.
#pragma once

#include <string>

#include "common/base/result.h"
#include "cvm/lun_node.h"

namespace symnas::cvm {

// What libblkid recognises, in words ("ext4 filesystem", "gpt partition table"); empty when
// nothing. Errors: kIo (cannot be read), kInternal (libblkid).
Result<std::string> find_signature(const LunNode& node);

}  // namespace symnas::cvm

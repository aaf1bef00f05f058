// Finds data of other programs on a device: a filesystem, a RAID or LVM member, a partition table
// (libblkid). Thread-safe: a function without state.
#pragma once

#include <string>

#include "common/base/result.h"
#include "cvm/lun_node.h"

namespace symnas::cvm {

// The data that libblkid recognises on the device, in words ("ext4 filesystem", "gpt partition
// table"); empty when it recognises nothing. Errors: kIo (cannot be read), kInternal (libblkid).
Result<std::string> find_signature(const LunNode& node);

}  // namespace symnas::cvm

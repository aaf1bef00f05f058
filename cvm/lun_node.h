// LunNode: the only name under which a LUN may be opened. An OFD lock belongs to the inode of the
// device node: a second node of one device, or a second loop device on one file, is granted a lock
// that is held through the first (measured). So INV-1 holds only if every process of a head opens a
// LUN through the same node.
//
// Thread-safe: functions without state. Sources: sysfs rules
// (Documentation/admin-guide/sysfs-rules.rst), loop(4), stat(2).
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"

namespace symnas::cvm {

enum class LunKind { kFile, kBlockDevice };

struct LunNode {
  std::string path;  // files: realpath(3); block devices: the kernel's own node, /dev/<name>
  LunKind kind = LunKind::kFile;
  // Equal for two nodes exactly if their OFD locks are the same lock: (st_dev, st_ino) of the file
  // or device node.
  std::uint64_t lock_device = 0;
  std::uint64_t lock_inode = 0;
  std::uint64_t device_number = 0;  // st_rdev of a block device
};

// The canonical node of whatever `path` names (symlinks, /dev/disk/by-id, a mknod'ed copy).
// Errors: kNotFound (nothing there), kInvalidArgument (neither file nor block device), kBusy (a
// block device without a node of its own on devtmpfs).
Result<LunNode> resolve_lun_node(const std::string& path);

// Whether another name of the same bytes exists whose locks are not those of this node. Errors:
// kBusy, naming the other one: a file with several hard links or with a loop device on it; a loop
// device whose file has another loop device; a device that is part of another (multipath, LVM, md).
// Cost: opens every attached loop device once.
Status check_no_alias(const LunNode& node);

// resolve_lun_node(), then check_no_alias().
Result<LunNode> canonical_lun_node(const std::string& path);

}  // namespace symnas::cvm

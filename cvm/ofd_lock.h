// OFD byte locks on LUNs: the local half of INV-1. An instance holds a write lock on the byte of
// its VNFS, on the very descriptor that its ring uses. The kernel drops the lock only after
// everything submitted through that descriptor is done (measured: io_uring writes can land seconds
// after a SIGKILLed process was reaped).
//
// Thread-safe: functions without state. Source: fcntl(2), "Open file description locks".
#pragma once

#include <cstdint>

#include "common/base/result.h"

namespace symnas::cvm {

// Takes the write lock on one byte of the open file description behind `fd`, for as long as that
// description lives. Never waits. REQUIRES: fd open for writing. Errors: kBusy when another
// description has it; kInternal (errno in the message).
Status hold_ofd_byte(int fd, std::uint32_t byte);

// Takes the write lock on every byte, which proves that no instance has the LUN open. Errors: as
// hold_ofd_byte().
Status hold_all_ofd_bytes(int fd);

// Whether no other open file description has a byte; takes nothing. Errors: as hold_ofd_byte().
Status check_no_ofd_byte(int fd);

// Proof that no I/O of the instance that held `byte` can reach the LUN any more: opens `lun_fd`'s
// inode again through /proc/self/fd, obtains the byte, and releases it. The instance must have been
// killed and reaped before. REQUIRES: lun_fd was opened through the LUN's canonical node. Errors:
// kBusy after `timeout_ms` (I/O still in flight, or an instance still runs); kInternal. Cost: polls
// every kOfdPollMs.
Status obtain_ofd_byte(int lun_fd, std::uint32_t byte, std::int64_t timeout_ms);

}  // namespace symnas::cvm

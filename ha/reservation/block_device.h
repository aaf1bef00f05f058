// BlockDevice: a Device through the kernel. Changes go through the ioctls of <linux/pr.h>, which
// multipath passes to every path; reads go through SG_IO, or for NVMe through Reservation Report.
// Thread class: confined to one thread; every call may block for as long as the path does.
//
// Traps: these ioctls return a positive SCSI or NVMe status when they fail, so any value but 0 is a
// failure; a unit attention makes the next command fail once, whichever it is.
#pragma once

#include <memory>
#include <string>

#include "common/base/unique_fd.h"
#include "ha/reservation/device.h"

namespace symnas::ha {

// Opens a whole block device. Errors: kNotFound, kInvalidArgument (no block device, a partition),
// kIo.
Result<std::unique_ptr<Device>> open_block_device(const std::string& path);

// What an ioctl of <linux/pr.h> returned: kDone for 0, kRefused for a status that the LUN itself
// sent, kUnknown for the rest (negative, a host or driver byte, an NVMe path error). Pure.
enum class Transport { kScsi, kNvme };
Change judge_ioctl(int returned, int error_number, Transport transport);

}  // namespace symnas::ha

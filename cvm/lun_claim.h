// Whether a device may become or be changed as a LUN at all: its size, and who else uses it.
// import_lun() and its like ask before they write; survey_device() asks to tell.
//
// Thread-safe: functions without state. Source: open(2), O_EXCL of block devices.
#pragma once

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "cvm/lun_device.h"

namespace symnas::cvm {

// Errors: kInvalidArgument (below kLunBytesMin).
Status check_lun_size(const LunDevice& device);

// Keeps others from claiming the device for as long as it lives.
struct Claim {
  UniqueFd exclusive;  // block devices
};

// kWrite: also takes every OFD byte, for as long as the device is open. kRead: asks whether
// somebody has one. REQUIRES: `device` was opened with that access. Errors: kBusy (mounted, swap,
// part of another device, opened exclusively, in use by an instance), those of device_error(),
// kInternal.
Result<Claim> claim_device(const LunDevice& device, Access access);

}  // namespace symnas::cvm

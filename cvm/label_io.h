// Reads, writes and repairs the two label copies of a LUN. Thread class: functions on one
// LunDevice, thread-compatible. Invariant: a change writes the second copy before the first, so
// that at every moment at least one copy is whole. Format: docs/formats/lun_label.md.
#pragma once

#include "common/base/result.h"
#include "cvm/label.h"
#include "cvm/lun_device.h"

namespace symnas::cvm {

struct LabelCopies {
  LunLabel label;                   // the newer valid copy
  bool first_needs_repair = false;  // damaged or older
  bool second_needs_repair = false;
};

// Errors: kNotFound (no label), kCorrupt (there was a label but no copy is valid; the copies are of
// different LUNs; the device is smaller than its label says), kNotSupported (newer format), those
// of LunDevice::read().
Result<LabelCopies> read_label(const LunDevice& device);

// Writes both copies; they are on stable storage when it returns. REQUIRES: label.size_bytes <=
// device.size_bytes().
Status write_label(const LunDevice& device, const LunLabel& label);

// Rewrites copies that are damaged or older. Errors: those of read_label() and write_label().
Status repair_label(const LunDevice& device);

// Overwrites both copies with zeroes. `label` gives the place of the second copy.
Status wipe_label(const LunDevice& device, const LunLabel& label);

}  // namespace symnas::cvm

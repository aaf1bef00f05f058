// What a device holds, if it were to become a LUN: what import_lun() would find, told without a
// change. Opens devices for reading only.
//
// Thread-safe: functions without state. A device that hangs keeps its caller, who needs a thread
// for it that may hang.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cvm/label.h"
#include "cvm/lun_node.h"

namespace symnas::cvm {

enum class Content {
  kNothing,       // import_lun() takes it; libblkid knows no owner of what it may hold
  kLabel,         // a LUN, of whatever cluster: `label`
  kDamagedLabel,  // it was a LUN, or is one of a newer format
  kData,          // a filesystem, volume member or partition table
  kInUse,         // mounted, swap, part of another device, opened exclusively; or it has an alias
  kTooSmall,
  kUnreadable,
  kNoMedium,  // a slot without anything in it: a detached loop device, a card reader
};

struct SurveyedDevice {
  std::string path;  // canonical node
  LunKind kind = LunKind::kFile;
  bool is_partition = false;
  std::string wwid;  // of the SCSI, NVMe or multipath device; "" = unknown. One LUN, one wwid
  std::uint64_t size_bytes = 0;
  std::uint32_t logical_block_bytes = 0;
  Content content = Content::kUnreadable;
  std::optional<LunLabel> label;  // kLabel
  std::string what;               // in words; "" for a whole label and for nothing
  bool blank = false;             // kNothing: kReservedBytes at either end are zeroes
};

// The device of a resolved node. What keeps it from being read is in `what`.
SurveyedDevice survey_device(const LunNode& node);

}  // namespace symnas::cvm

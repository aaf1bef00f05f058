// Opening a volume for I/O: the entry point of cvm/io.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/uuid.h"
#include "cvm/io/limits.h"
#include "cvm/lun_device.h"
#include "cvm/records.pb.h"
#include "cvm/volume_io.h"

namespace symnas::cvm {

// The path at which a head has found a LUN (scan_luns()).
struct LunPath {
  std::string name;
  Uuid uuid;
  std::string path;
};

enum class EngineChoice {
  kUring,  // POSIX, and a line in the log, when the kernel has no io_uring
  kPosix,
};

struct OpenOptions {
  std::uint32_t ofd_byte = 0;  // the VNFS's id
  EngineChoice engine = EngineChoice::kUring;
  std::uint32_t queue_depth = kQueueDepthDefault;  // 1 .. kQueueDepthMax
  DirectIo direct = DirectIo::kPreferred;
};

// A VolumeIo that can adopt newer versions of its record.
class OpenVolume : public VolumeIo {
 public:
  // Version of the volume record that is in use.
  virtual std::uint64_t version() const = 0;
  // Adopts a newer record of the same volume with segments appended, while I/O runs; opens and
  // locks the new LUNs. No effect when the record is not newer. `luns` must hold the new LUNs;
  // others may be left out. Errors: kInvalidArgument (another volume, or not an extension of what
  // is open; larger logical blocks), and those of open_volume(). After an error the volume goes on
  // unchanged.
  virtual Status grow(const records::VolumeRecord& record, std::span<const LunPath> luns) = 0;
  // "io_uring" or "posix".
  virtual std::string_view engine_name() const = 0;
};

// Opens every LUN of `record` once, through its canonical node, takes the OFD lock of
// `options.ofd_byte` on the descriptors that the engine uses, and checks labels. When the last
// reference goes (on any thread), requests in progress finish, and only then the locks are
// released. Errors: kBusy (the byte is held: the VNFS's last instance, or its I/O, has not ended;
// or an alias of a LUN exists: the message names LUN and reason), kNotFound (a LUN has not been
// found on this head), kForeign, kCorrupt (record or label), kNotSupported (no O_DIRECT although it
// is required), kPermission, kFenced, kIo, kInvalidArgument (options).
Result<std::shared_ptr<OpenVolume>> open_volume(const records::VolumeRecord& record,
                                                std::span<const LunPath> luns,
                                                const OpenOptions& options);

}  // namespace symnas::cvm

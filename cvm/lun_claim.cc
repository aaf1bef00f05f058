#include "cvm/lun_claim.h"

#include <fcntl.h>

#include <cerrno>

#include <fmt/core.h>

#include "cvm/limits.h"
#include "cvm/ofd_lock.h"

namespace symnas::cvm {

Status check_lun_size(const LunDevice& device) {
  if (device.size_bytes() >= kLunBytesMin) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("lun device {}: {} bytes are too small for a LUN; the least is {} MiB",
                          device.path(), device.size_bytes(), kLunBytesMin / kMiB));
}

// O_EXCL of a block device fails while the kernel uses it: mounted, swap, dm, md (open(2)).
Result<Claim> claim_device(const LunDevice& device, Access access) {
  Claim claim;
  if (device.node().kind == LunKind::kBlockDevice) {
    const int flags = (access == Access::kWrite ? O_RDWR : O_RDONLY) | O_EXCL | O_CLOEXEC;
    claim.exclusive = UniqueFd(::open(device.path().c_str(), flags));
    if (!claim.exclusive.valid() && errno == EBUSY)
      return fail(ErrorCode::kBusy,
                  fmt::format("lun device {}: in use: mounted, swap, or part of another device",
                              device.path()));
    if (!claim.exclusive.valid())
      return tl::unexpected(device_error(device.path(), "exclusive open", errno));
  }
  const Status free =
      access == Access::kWrite ? hold_all_ofd_bytes(device.fd()) : check_no_ofd_byte(device.fd());
  if (!free)
    return fail(free.error().code, fmt::format("lun device {}: in use by an instance: {}",
                                               device.path(), free.error().message));
  return claim;
}

}  // namespace symnas::cvm

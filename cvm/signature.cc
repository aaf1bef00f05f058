#include "cvm/signature.h"

#include <fcntl.h>

#include <cerrno>
#include <memory>

#include <blkid/blkid.h>
#include <fmt/core.h>

#include "common/base/unique_fd.h"
#include "cvm/lun_device.h"

namespace symnas::cvm {

Result<std::string> find_signature(const LunNode& node) {
  const UniqueFd fd(::open(node.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return tl::unexpected(device_error(node.path, "open", errno));
  const std::unique_ptr<struct blkid_struct_probe, decltype(&blkid_free_probe)> probe(
      blkid_new_probe(), &blkid_free_probe);
  const auto broken = [&](const char* call) {
    return fail(ErrorCode::kInternal,
                fmt::format("lun device {}: libblkid: {} failed", node.path, call));
  };
  if (!probe || blkid_probe_set_device(probe.get(), fd.get(), 0, 0) != 0)
    return broken("blkid_probe_set_device");
  if (blkid_probe_enable_superblocks(probe.get(), 1) != 0 ||
      blkid_probe_set_superblocks_flags(probe.get(), BLKID_SUBLKS_TYPE) != 0 ||
      blkid_probe_enable_partitions(probe.get(), 1) != 0)
    return broken("blkid_probe_enable");

  const int rc = blkid_do_safeprobe(probe.get());
  if (rc == 1) return std::string();
  if (rc == -2) return std::string("several filesystem or partition signatures");
  if (rc != 0) return tl::unexpected(device_error(node.path, "probe for signatures", EIO));
  const char* value = nullptr;
  if (blkid_probe_lookup_value(probe.get(), "TYPE", &value, nullptr) == 0)
    return fmt::format("{} filesystem or volume member", value);
  if (blkid_probe_lookup_value(probe.get(), "PTTYPE", &value, nullptr) == 0)
    return fmt::format("{} partition table", value);
  return std::string("unknown signature");
}

}  // namespace symnas::cvm

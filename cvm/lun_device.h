// LunDevice: one LUN opened through its canonical node for label work, with its size and logical
// block size. Bulk data goes through cvm/io.
//
// Thread class: thread-compatible, move-only. Invariant: the descriptor is of the node that was
// resolved.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "cvm/lun_node.h"

namespace symnas::cvm {

enum class Access { kRead, kWrite };
enum class DirectIo {
  kRequired,   // refuse a LUN that cannot do O_DIRECT
  kPreferred,  // fall back to the page cache with a warning (tmpfs)
};

class LunDevice {
 public:
  // Opens `path` through its canonical node, O_DIRECT if possible. The descriptor is close-on-exec.
  // Errors: those of canonical_lun_node(), kPermission, kBusy (ETXTBSY: swap), kIo, kNotSupported
  // (O_DIRECT required).
  static Result<LunDevice> open(const std::string& path, Access access,
                                DirectIo direct = DirectIo::kPreferred);
  // As open(), for a node that is already resolved; does not look for aliases.
  static Result<LunDevice> open_node(LunNode node, Access access,
                                     DirectIo direct = DirectIo::kPreferred);

  const LunNode& node() const { return node_; }
  const std::string& path() const { return node_.path; }
  // Whether the path still names what was opened. It does not when a file was replaced by rename,
  // or when a device went away and came back (its node is a new one): OFD locks here then prove
  // nothing about what the path names.
  bool current() const;
  int fd() const { return fd_.get(); }
  // Gives up the descriptor: the one through which a ring may do I/O and whose OFD lock counts.
  UniqueFd take_fd() { return std::move(fd_); }
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint32_t logical_block_bytes() const { return logical_block_bytes_; }

  // Synchronous, through an aligned bounce buffer; the data of write() is on stable storage when it
  // returns (RWF_DSYNC). REQUIRES: offset and length multiples of 4096. Errors: kOutOfRange,
  // kFenced (EBADE), kIo (path, offset, errno).
  Status read(std::uint64_t offset, std::span<std::byte> into) const;
  Status write(std::uint64_t offset, std::span<const std::byte> from) const;
  // Writes zeroes. REQUIRES: as write().
  Status zero(std::uint64_t offset, std::uint64_t length_bytes) const;

 private:
  LunDevice() = default;
  Status probe();

  LunNode node_;
  UniqueFd fd_;
  std::uint64_t size_bytes_ = 0;
  std::uint32_t logical_block_bytes_ = 0;
};

// "lun device PATH: WHAT: strerror (errno N)" with kFenced for EBADE (a reservation conflict), else
// kNotFound, kPermission, kBusy or kIo.
Error device_error(const std::string& path, const std::string& what, int error_number);

}  // namespace symnas::cvm

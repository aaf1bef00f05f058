// Medium: the storage of a LUN, behind a volatile write cache that a power loss drops.
//
// Thread class: thread-compatible; the owner's mutex guards it. Invariants: a stable write, and
// what a flush covers, is in the backing file when the call returns; a power loss loses nothing of
// that; a sector is never torn. The backing file is the medium: its page cache counts as stable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "tests/support/fuse_lun/limits.h"

namespace symnas::fuse_lun {

enum class Stability {
  kVolatile,  // stays in the cache until a flush covers it
  kStable,    // FUA: O_DSYNC in the request
};

class Medium {
 public:
  // What a power loss did with the cache.
  struct Loss {
    std::uint64_t sectors_lost = 0;
    std::uint64_t sectors_kept = 0;
  };
  using Mark = std::uint64_t;

  // Errors: kNotFound (no such file), kIo.
  static Result<std::unique_ptr<Medium>> open(const std::string& path);

  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint64_t volatile_sectors() const;

  // Each returns 0 or an errno. REQUIRES: multiples of kSectorBytes inside size_bytes().
  int read(std::uint64_t offset, std::span<std::byte> into) const;
  int write(std::uint64_t offset, std::span<const std::byte> from, Stability stability);

  // To be taken when a flush comes in: that flush need not cover writes that end later, and does
  // not.
  Mark mark() const { return writes_; }
  int flush(Mark mark);

  // Drops the cache; with `random`, an arbitrary part of its sectors has reached the medium.
  Loss lose_power(std::mt19937_64* random);
  // A write was under way when the power failed: some of its sectors reach the medium.
  void tear(std::uint64_t offset, std::span<const std::byte> from, std::mt19937_64& random);

 private:
  struct Block {
    std::array<std::byte, kCacheBlockBytes> bytes;
    std::uint8_t sectors = 0;  // which sectors are cached
    Mark oldest = 0;           // the first write into the block that is not flushed yet
  };

  Medium() = default;
  int store(std::uint64_t offset, std::span<const std::byte> from);
  int write_back(std::uint64_t number, const Block& block);
  void forget(std::uint64_t offset, std::uint64_t length);

  UniqueFd backing_;
  std::uint64_t size_bytes_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Block>> cache_;  // by block number
  Mark writes_ = 0;
};

}  // namespace symnas::fuse_lun

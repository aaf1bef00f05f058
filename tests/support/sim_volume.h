// A volume in memory, for tests: with a volatile cache that a power loss empties, with late
// completions in any order, and with errors.
//   SimDisk    the bytes: which are stable, which are only in the cache
//   SimVolume  one instance's open volume on it; it dies with the instance
// Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "common/env/random.h"
#include "cvm/volume_io.h"

namespace symnas::test {

class SimDisk {
 public:
  static constexpr std::size_t kSector = 512;
  using Sector = std::array<std::byte, kSector>;

  // Every byte starts as `poison`: the data of an earlier owner of the blocks.
  SimDisk(std::uint64_t size_bytes, std::byte poison) : stable_(size_bytes, poison) {}

  std::uint64_t size_bytes() const { return stable_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> into) const;
  void write(std::uint64_t offset, std::span<const std::byte> from, cvm::Durability durability);
  void flush();
  // `random` decides for each cached sector whether it has reached the platter.
  void lose_power(env::Random& random);

 private:
  mutable std::mutex mutex_;
  std::vector<std::byte> stable_;
  std::map<std::uint64_t, Sector> cache_;
};

class SimVolume final : public cvm::VolumeIo {
 public:
  enum class Mode {
    kImmediate,  // done and called back before the call returns
    kQueued,     // waits for run_one()
  };
  SimVolume(std::shared_ptr<SimDisk> disk, Mode mode) : disk_(std::move(disk)), mode_(mode) {}

  std::uint64_t size_bytes() const override { return disk_->size_bytes(); }
  std::uint32_t logical_block_bytes() const override { return SimDisk::kSector; }
  std::uint32_t stripe_unit_bytes() const override { return 64 << 10; }
  cvm::Buffer buffer(std::size_t bytes) override;
  void read(VolumeOffset offset, std::span<std::byte> into, cvm::IoCallback done) override;
  void write(VolumeOffset offset, std::span<const std::byte> from, cvm::Durability durability,
             cvm::IoCallback done) override;
  void write_edges(VolumeOffset offset, std::span<const std::byte> from, cvm::Durability durability,
                   cvm::IoCallback done) override;
  void flush(cvm::IoCallback done) override;
  std::vector<cvm::LunCounters> counters() const override { return {}; }

  // Performs one queued request, drawn by `random`. Of write_edges() it performs one half, so that
  // another request may come between read and write. False: no request waits.
  bool run_one(env::Random& random);
  std::size_t queued() const;
  // The instance dies: of a queued write any sectors may have landed; callbacks get kShutdown, and
  // so do later requests.
  void die(env::Random& random);
  // The next `count` requests of this kind fail with kIo and do nothing.
  enum class Kind { kRead, kWrite, kFlush };
  void fail_next(Kind kind, int count, ErrorCode code = ErrorCode::kIo);

  struct Counts {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t stable_writes = 0;
    std::uint64_t flushes = 0;
  };
  Counts counts() const;

 private:
  struct Request {
    Kind kind;
    std::uint64_t offset;
    std::span<std::byte> into;
    std::span<const std::byte> from;
    cvm::Durability durability;
    cvm::IoCallback done;
    std::vector<std::byte>
        merged;  // of write_edges(): what its first half read, merged with `from`
  };
  static bool needs_merge(const Request& request);
  void merge(Request& request);
  void submit(Request request);
  Status perform(const Request& request);

  const std::shared_ptr<SimDisk> disk_;
  const Mode mode_;
  mutable std::mutex mutex_;
  std::deque<Request> queue_;
  std::map<Kind, int> failures_;
  ErrorCode failure_code_ = ErrorCode::kIo;
  Counts counts_;
  bool dead_ = false;
};

}  // namespace symnas::test

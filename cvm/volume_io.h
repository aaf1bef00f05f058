// VolumeIo: reads and writes a striped volume. The interface of cvm/io (io_uring, POSIX) and of
// simulated volumes.
//
// Thread class: thread-safe. A callback runs on a thread of the engine, or on the submitter's
// thread where a MayWaitForIo allows it; it must not block, and may submit further I/O. Invariants:
// INV-1 (every LUN descriptor carries this instance's OFD byte lock before the first submit and for
// as long as anything submitted through it may reach the LUN).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace symnas::cvm {

// Move-only handle of an aligned pooled buffer. A destroyed handle returns the buffer to its pool,
// on any thread.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::byte* data, std::size_t size_bytes,
         std::function<void(std::byte*, std::size_t)> give_back)
      : data_(data), size_bytes_(size_bytes), give_back_(std::move(give_back)) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_ != nullptr) give_back_(data_, size_bytes_);
  }
  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }
  std::span<std::byte> span() const { return {data_, size_bytes_}; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(give_back_, other.give_back_);
  }
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
  std::function<void(std::byte*, std::size_t)> give_back_;
};

enum class Durability {
  kVolatile,  // may be lost with the LUN's cache until flush()
  kStable,    // on stable storage when the callback says OK (FUA: RWF_DSYNC)
};

struct LunCounters {
  std::string name;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t flushes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t errors = 0;
  std::uint64_t latency_us_total = 0;
  std::uint64_t latency_us_max = 0;
};

using IoCallback = std::function<void(Status)>;

// While one of these lives on a thread, the thread may wait for the I/O that it submits: a VolumeIo
// may then do a small request at once and call back before the submitting call returns, which saves
// two changes of thread. Without one, submitting never waits. Not nested.
class MayWaitForIo {
 public:
  MayWaitForIo() { here_ = true; }
  ~MayWaitForIo() { here_ = false; }
  MayWaitForIo(const MayWaitForIo&) = delete;
  MayWaitForIo& operator=(const MayWaitForIo&) = delete;
  static bool here() { return here_; }
  // From here on the thread must not wait any more: the I/O that it waited for is done.
  static void end_here() { here_ = false; }
  // How long the thread has waited for LUNs so far.
  static std::int64_t waited_ns() { return waited_ns_; }
  static void add_waited(std::int64_t span_ns) { waited_ns_ += span_ns; }

 private:
  static inline thread_local bool here_ = false;
  static inline thread_local std::int64_t waited_ns_ = 0;
};

class VolumeIo {
 public:
  virtual ~VolumeIo() = default;

  virtual std::uint64_t size_bytes() const = 0;
  // Largest logical block size of the LUNs: 512 or 4096. A write must be a multiple of it or go
  // through write_edges().
  virtual std::uint32_t logical_block_bytes() const = 0;
  virtual std::uint32_t stripe_unit_bytes() const = 0;
  // A buffer of at least `bytes`, aligned to 4096. Never blocks; when the pool has none, it is
  // plain aligned memory.
  virtual Buffer buffer(std::size_t bytes) = 0;

  // REQUIRES (read, write): offset and length multiples of logical_block_bytes(), memory aligned to
  // it and alive until the callback. Errors: kOutOfRange, kIo (which LUN, errno), kFenced (EBADE: a
  // reservation conflict).
  virtual void read(VolumeOffset offset, std::span<std::byte> into, IoCallback done) = 0;
  virtual void write(VolumeOffset offset, std::span<const std::byte> from, Durability durability,
                     IoCallback done) = 0;
  // Any offset, length and memory: reads the partial blocks at the edges, merges, and writes whole
  // blocks. REQUIRES: nobody else writes those edge blocks meanwhile (the caller holds their lock).
  virtual void write_edges(VolumeOffset offset, std::span<const std::byte> from,
                           Durability durability, IoCallback done) = 0;
  // When this answers OK, everything whose callback said OK before this call is on stable storage.
  // Concurrent calls share device flushes; a call joins only a flush that has not been submitted
  // yet.
  virtual void flush(IoCallback done) = 0;

  virtual std::vector<LunCounters> counters() const = 0;
};

}  // namespace symnas::cvm

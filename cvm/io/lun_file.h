// LunFile: one LUN of an open volume: the descriptor that carries the instance's OFD byte lock, and
// its counters.
//
// Thread class: thread-safe after open(). Invariant (INV-1): this process submits I/O on the LUN
// only through this descriptor; the descriptor was opened through the LUN's canonical node, and its
// OFD lock was taken before any I/O.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "common/base/uuid.h"
#include "cvm/lun_device.h"
#include "cvm/volume_io.h"

namespace symnas::cvm {

enum class IoKind : std::uint8_t {
  kRead,
  kWrite,
  kFlush,
  kNone,  // no I/O: only a turn on an engine thread
};

struct LunFileOptions {
  std::string name;  // for messages and counters
  std::string path;
  Uuid lun;
  Uuid volume;
  std::uint64_t data_bytes = 0;  // the volume's share of the LUN
  std::uint32_t ofd_byte = 0;
  DirectIo direct = DirectIo::kPreferred;
};

class LunFile {
 public:
  // Opens the LUN, takes the OFD lock, then checks the label.
  // Errors: kBusy (the lock is held: another instance of the VNFS, or its I/O, has not ended; or an
  // alias holds it), kForeign (the path leads to another LUN, or to a LUN of another volume),
  // kCorrupt (smaller than the volume's share, block size changed), kNotFound, and those of
  // LunDevice::open().
  static Result<std::unique_ptr<LunFile>> open(const LunFileOptions& options);

  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }
  std::uint32_t logical_block_bytes() const { return logical_block_bytes_; }

  // To be called with each finished part or flush; error_number 0 = success.
  void account(IoKind kind, std::uint64_t bytes, std::int64_t latency_ns, int error_number);
  LunCounters counters() const;

  // Which writes a flush still has to cover. A volatile write is noted after it is done and before
  // its caller is told.
  void note_volatile_write() { written_.fetch_add(1, std::memory_order_acq_rel); }
  std::uint64_t written() const { return written_.load(std::memory_order_acquire); }
  bool clean_since(std::uint64_t written) const {
    return flushed_.load(std::memory_order_acquire) >= written;
  }
  void note_flushed(std::uint64_t written) { flushed_.store(written, std::memory_order_release); }

 private:
  LunFile() = default;

  UniqueFd fd_;
  std::string name_;
  std::string path_;
  std::uint32_t logical_block_bytes_ = 0;
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> flushed_{0};  // value of written_ that is on stable storage
  struct {
    std::atomic<std::uint64_t> reads{0}, writes{0}, flushes{0}, read_bytes{0}, write_bytes{0};
    std::atomic<std::uint64_t> errors{0}, latency_us_total{0}, latency_us_max{0};
  } counters_;
};

}  // namespace symnas::cvm

// Engine: passes I/Os on LUNs to the kernel and calls back. There are two: io_uring and POSIX
// threads.
//
// Thread class: submit() is thread-safe. Callbacks run on the engine's own threads and may submit.
// Invariants: every I/O submitted is called back exactly once; the engine continues parts that were
// cut short and repeats them after EAGAIN and EINTR; the destructor returns after the last
// callback.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "common/base/result.h"
#include "cvm/io/lun_file.h"
#include "cvm/volume_io.h"

namespace symnas::cvm {

// One contiguous I/O on one LUN. The submitter owns it and its memory until done is called.
struct LunIo {
  IoKind kind = IoKind::kNone;
  Durability durability = Durability::kVolatile;  // of a write
  LunFile* lun = nullptr;                         // null for kNone
  std::byte* data = nullptr;
  std::uint32_t length_bytes = 0;
  std::uint64_t offset = 0;  // on the LUN
  // error_number: 0 or an errno; ENODATA when the LUN ends before the I/O does.
  void (*done)(LunIo& io, int error_number) = nullptr;

  LunIo* next = nullptr;  // links a list for submit(); then used by the engine
  // Used by the engine.
  std::int64_t begun_ns = 0;
  std::uint32_t done_bytes = 0;
  std::uint32_t retries = 0;
};

class Engine {
 public:
  // Waits for every I/O's callback. REQUIRES: not on an engine thread; nobody submits any more.
  virtual ~Engine() = default;
  // Submits a list linked by `next`. Never waits for I/O.
  virtual void submit(LunIo* list) = 0;
  // Whether the calling thread is one of this engine's threads.
  virtual bool on_engine_thread() const = 0;
  virtual std::string_view name() const = 0;
};

// Errors: kUnavailable: the kernel has no io_uring or forbids it. REQUIRES: 1 <= queue_depth <=
// kQueueDepthMax.
Result<std::unique_ptr<Engine>> make_uring_engine(std::uint32_t queue_depth);
std::unique_ptr<Engine> make_posix_engine(std::uint32_t queue_depth);

// Shared by the engines: what one system call or completion did for `io`. The result is a number of
// bytes (>= 0) or -errno.
enum class Progress {
  kDone,   // call finish_io()
  kAgain,  // submit the rest: data + done_bytes
};
Progress advance_io(LunIo& io, std::int64_t result, int& error_number);
// Counts the I/O and calls back; `io` may be destroyed afterwards.
void finish_io(LunIo& io, int error_number);
// Does one I/O on the calling thread; returns the error number for finish_io().
int wait_for_io(LunIo& io);
// As wait_for_io(), then finish_io().
void perform_io(LunIo& io);
// CLOCK_MONOTONIC.
std::int64_t now_ns();
// To be called first on an engine thread: sets its name and blocks signals (the process has its own
// threads for them).
void enter_engine_thread(const char* thread_name);

}  // namespace symnas::cvm

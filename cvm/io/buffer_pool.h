// BufferPool: aligned memory for O_DIRECT, kept for reuse. Buffers may outlive the pool's owner.
//
// Thread class: thread-safe. Invariants: every buffer is aligned to 4096; at most
// kBufferPoolBytesMax lie unused; a buffer beyond the largest class is plain memory and goes back
// to the allocator.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "cvm/io/limits.h"
#include "cvm/volume_io.h"

namespace symnas::cvm {

class BufferPool {
 public:
  struct Orphan {
    void operator()(BufferPool* pool) const { pool->drop_reference(); }
  };
  // The owner's handle. The pool itself goes with the last buffer.
  using Handle = std::unique_ptr<BufferPool, Orphan>;
  static Handle create() { return Handle(new BufferPool); }

  // At least `bytes`, contents undefined. Never waits; REQUIRES: bytes > 0.
  Buffer take(std::size_t bytes);

  std::size_t unused_bytes() const { return unused_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kClasses = 10;  // 4 KiB << 0 .. 9
  static_assert(kBufferClassMinBytes << (kClasses - 1) == kBufferClassMaxBytes);
  struct Class {
    std::mutex mutex;
    std::vector<std::byte*> unused;
  };

  BufferPool() = default;
  ~BufferPool();
  void give_back(std::byte* data, std::size_t size_bytes);
  void drop_reference();

  std::array<Class, kClasses> classes_;
  std::atomic<std::size_t> unused_bytes_{0};
  std::atomic<std::size_t> references_{1};  // the owner and every buffer out
};

}  // namespace symnas::cvm

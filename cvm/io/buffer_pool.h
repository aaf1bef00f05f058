// BufferPool: aligned memory for O_DIRECT, kept for reuse. Buffers may outlive the pool's owner.
//
// Thread class: thread-safe. Invariants: every buffer is aligned to 4096; at most
// kBufferPoolBytesMax of unused buffers are kept; a buffer larger than the largest class is plain
// memory and goes back to the allocator.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

#include "common/base/thread_annotations.h"
#include "cvm/io/limits.h"
#include "cvm/volume_io.h"

namespace symnas::cvm {

class BufferPool {
 public:
  struct Orphan {
    void operator()(BufferPool* pool) const { pool->drop_reference(); }
  };
  // The owner's handle. The pool itself is destroyed with the last buffer.
  using Handle = std::unique_ptr<BufferPool, Orphan>;
  static Handle create() { return Handle(new BufferPool); }

  // A buffer of at least `bytes`, contents undefined. Never waits. REQUIRES: bytes > 0.
  Buffer take(std::size_t bytes);

  // For tests: bytes of the buffers that nobody uses.
  std::size_t unused_bytes() const { return unused_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kClasses = 10;  // 4 KiB << 0 .. 9
  static_assert(kBufferClassMinBytes << (kClasses - 1) == kBufferClassMaxBytes);
  struct Class {
    Mutex mutex;
    std::vector<std::byte*> unused GUARDED_BY(mutex);
  };

  BufferPool() = default;
  ~BufferPool();
  void give_back(std::byte* data, std::size_t size_bytes);
  void drop_reference();

  std::array<Class, kClasses> classes_;
  std::atomic<std::size_t> unused_bytes_{0};
  std::atomic<std::size_t> references_{1};  // the owner, and every buffer in use
};

}  // namespace symnas::cvm

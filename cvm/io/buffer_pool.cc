#include "cvm/io/buffer_pool.h"

#include <bit>
#include <cstdlib>

#include "common/base/check.h"

namespace symnas::cvm {
namespace {

std::size_t class_of(std::size_t class_bytes) {
  return static_cast<std::size_t>(std::countr_zero(class_bytes) -
                                  std::countr_zero(kBufferClassMinBytes));
}

std::byte* allocate(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kBufferClassMinBytes, bytes));
  CHECK(memory != nullptr, "out of memory");
  return memory;
}

}  // namespace

Buffer BufferPool::take(std::size_t bytes) {
  CHECK(bytes > 0);
  references_.fetch_add(1, std::memory_order_relaxed);
  const auto give_back = [this](std::byte* data, std::size_t size) { this->give_back(data, size); };
  if (bytes > kBufferClassMaxBytes) {
    const std::size_t whole =
        (bytes + kBufferClassMinBytes - 1) / kBufferClassMinBytes * kBufferClassMinBytes;
    return {allocate(whole), whole, give_back};
  }
  const std::size_t class_bytes = std::bit_ceil(std::max(bytes, kBufferClassMinBytes));
  Class& c = classes_[class_of(class_bytes)];
  {
    const MutexLock lock(c.mutex);
    if (!c.unused.empty()) {
      std::byte* data = c.unused.back();
      c.unused.pop_back();
      unused_bytes_.fetch_sub(class_bytes, std::memory_order_relaxed);
      return {data, class_bytes, give_back};
    }
  }
  return {allocate(class_bytes), class_bytes, give_back};
}

void BufferPool::give_back(std::byte* data, std::size_t size_bytes) {
  bool keep = size_bytes <= kBufferClassMaxBytes;
  if (keep && unused_bytes_.fetch_add(size_bytes, std::memory_order_relaxed) + size_bytes >
                  kBufferPoolBytesMax) {
    unused_bytes_.fetch_sub(size_bytes, std::memory_order_relaxed);
    keep = false;
  }
  if (keep) {
    Class& c = classes_[class_of(size_bytes)];
    const MutexLock lock(c.mutex);
    c.unused.push_back(data);
  } else {
    std::free(data);
  }
  drop_reference();
}

void BufferPool::drop_reference() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

BufferPool::~BufferPool() {
  for (Class& c : classes_)
    for (std::byte* data : c.unused) std::free(data);
}

}  // namespace symnas::cvm

#include "cvm/io/buffer_pool.h"

#include <gtest/gtest.h>

namespace symnas::cvm {
namespace {

bool aligned(const Buffer& buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer.data()) % 4096 == 0;
}

TEST(BufferPool, SizesAreRoundedUpToClassesAndAligned) {
  const auto pool = BufferPool::create();
  for (const auto& [wanted, got] : {std::pair<std::size_t, std::size_t>{1, 4096},
                                    {4096, 4096},
                                    {4097, 8192},
                                    {kMiB, kMiB},
                                    {kMiB + 1, 2 * kMiB},
                                    {2 * kMiB + 1, 2 * kMiB + 4096}}) {
    const Buffer buffer = pool->take(wanted);
    EXPECT_EQ(buffer.size_bytes(), got) << wanted;
    EXPECT_TRUE(aligned(buffer));
  }
}

TEST(BufferPool, ReturnedBufferIsUsedAgain) {
  const auto pool = BufferPool::create();
  std::byte* first = nullptr;
  {
    const Buffer buffer = pool->take(8192);
    first = buffer.data();
  }
  EXPECT_EQ(pool->unused_bytes(), 8192u);
  const Buffer again = pool->take(5000);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(pool->unused_bytes(), 0u);
}

TEST(BufferPool, UnusedBytesAreBounded) {
  const auto pool = BufferPool::create();
  std::vector<Buffer> out;
  for (std::size_t i = 0; i < kBufferPoolBytesMax / kMiB + 8; ++i) out.push_back(pool->take(kMiB));
  out.clear();
  EXPECT_EQ(pool->unused_bytes(), kBufferPoolBytesMax);
}

TEST(BufferPool, LargeBuffersAreNotKept) {
  const auto pool = BufferPool::create();
  { const Buffer large = pool->take(kBufferClassMaxBytes + 1); }
  EXPECT_EQ(pool->unused_bytes(), 0u);
}

// The pool is freed with the last buffer: otherwise AddressSanitizer reports it.
TEST(BufferPool, BufferOutlivesItsPool) {
  auto pool = BufferPool::create();
  Buffer small = pool->take(100);
  const Buffer large = pool->take(kBufferClassMaxBytes * 2);
  pool.reset();
  small.data()[0] = std::byte{1};
  const Buffer moved = std::move(small);
  EXPECT_FALSE(small);
  EXPECT_EQ(moved.data()[0], std::byte{1});
}

}  // namespace
}  // namespace symnas::cvm

// Both engines on a real file, and the rules that both keep.
#include "cvm/io/engine.h"

#include <cerrno>
#include <cstring>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "cvm/io/buffer_pool.h"
#include "cvm/io/limits.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

TEST(AdvanceIo, ContinuesShortOnesAndRepeatsInterruptedOnes) {
  LunIo io{.kind = IoKind::kWrite, .length_bytes = 4096};
  int error = -1;
  EXPECT_EQ(advance_io(io, 1024, error), Progress::kAgain);
  EXPECT_EQ(io.done_bytes, 1024u);
  EXPECT_EQ(advance_io(io, -EINTR, error), Progress::kAgain);
  EXPECT_EQ(advance_io(io, -EAGAIN, error), Progress::kAgain);
  EXPECT_EQ(advance_io(io, 3072, error), Progress::kDone);
  EXPECT_EQ(error, 0);
}

TEST(AdvanceIo, GivesUpOnEndlessEagain) {
  LunIo io{.kind = IoKind::kRead, .length_bytes = 512};
  int error = 0;
  for (std::uint32_t i = 0; i < kPartRetriesMax; ++i)
    ASSERT_EQ(advance_io(io, -EAGAIN, error), Progress::kAgain);
  EXPECT_EQ(advance_io(io, -EAGAIN, error), Progress::kDone);
  EXPECT_EQ(error, EAGAIN);
}

TEST(AdvanceIo, EndOfLunAndErrorsAreReported) {
  int error = 0;
  LunIo read{.kind = IoKind::kRead, .length_bytes = 512};
  EXPECT_EQ(advance_io(read, 0, error), Progress::kDone);
  EXPECT_EQ(error, ENODATA);
  EXPECT_EQ(advance_io(read, -EBADE, error), Progress::kDone);
  EXPECT_EQ(error, EBADE);
  LunIo flush{.kind = IoKind::kFlush};
  EXPECT_EQ(advance_io(flush, 0, error), Progress::kDone);
  EXPECT_EQ(error, 0);
}

class EngineTest : public ::testing::TestWithParam<EngineChoice> {
 protected:
  void SetUp() override {
    if (GetParam() == EngineChoice::kUring) {
      auto engine = make_uring_engine(kDepth);
      if (!engine) GTEST_SKIP() << engine.error().message;
      engine_ = std::move(*engine);
    } else {
      engine_ = make_posix_engine(kDepth);
    }
    const auto record = files_.import("LUN0");
    auto lun = LunFile::open({.name = "LUN0",
                              .path = files_.path("LUN0"),
                              .lun = *uuid_from_bytes(record.uuid()),
                              .ofd_byte = 1});
    ASSERT_TRUE(lun) << lun.error().message;
    lun_ = std::move(*lun);
  }

  struct Wait : LunIo {
    std::promise<int> promise;
  };
  static void wake(LunIo& io, int error_number) {
    static_cast<Wait&>(io).promise.set_value(error_number);
  }
  void fill(Wait& io, IoKind kind, std::byte* data, std::uint32_t bytes, std::uint64_t offset) {
    io.kind = kind;
    io.lun = kind == IoKind::kNone ? nullptr : lun_.get();
    io.data = data;
    io.length_bytes = bytes;
    io.offset = offset;
    io.done = &EngineTest::wake;
  }
  int run(IoKind kind, std::byte* data, std::uint32_t bytes, std::uint64_t offset) {
    Wait io;
    fill(io, kind, data, bytes, offset);
    auto answer = io.promise.get_future();
    engine_->submit(&io);
    return answer.get();
  }

  static constexpr std::uint32_t kDepth = 4;
  LunFiles files_;
  std::unique_ptr<LunFile> lun_;
  BufferPool::Handle pool_ = BufferPool::create();
  std::unique_ptr<Engine> engine_;
};

TEST_P(EngineTest, WritesFlushesAndReadsBack) {
  const Buffer out = pool_->take(8192);
  const Buffer in = pool_->take(8192);
  std::memset(out.data(), 'w', 8192);
  EXPECT_EQ(run(IoKind::kWrite, out.data(), 8192, kMiB), 0);
  EXPECT_EQ(run(IoKind::kFlush, nullptr, 0, 0), 0);
  EXPECT_EQ(run(IoKind::kNone, nullptr, 0, 0), 0);
  EXPECT_EQ(run(IoKind::kRead, in.data(), 8192, kMiB), 0);
  EXPECT_EQ(std::memcmp(in.data(), out.data(), 8192), 0);
  const LunCounters counters = lun_->counters();
  EXPECT_EQ(counters.writes, 1u);
  EXPECT_EQ(counters.flushes, 1u);
  EXPECT_EQ(counters.reads, 1u);
  EXPECT_EQ(counters.read_bytes, 8192u);
  EXPECT_EQ(counters.write_bytes, 8192u);
  EXPECT_EQ(counters.errors, 0u);
}

TEST_P(EngineTest, KernelErrorsArriveAndAreCounted) {
  const Buffer in = pool_->take(4096);
  EXPECT_EQ(run(IoKind::kRead, in.data(), 4096, kLunBytesMin), ENODATA);
  EXPECT_EQ(run(IoKind::kRead, in.data(), 512, 100), EINVAL);  // no whole block, O_DIRECT
  EXPECT_EQ(lun_->counters().errors, 2u);
}

TEST_P(EngineTest, MoreThanTheQueueDepthAllComeBack) {
  constexpr std::size_t kCount = 50 * kDepth;
  std::vector<Buffer> buffers;
  std::vector<Wait> ios(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    buffers.push_back(pool_->take(4096));
    fill(ios[i], IoKind::kRead, buffers.back().data(), 4096, i * 4096);
    if (i > 0) ios[i - 1].next = &ios[i];
  }
  engine_->submit(&ios[0]);
  for (Wait& io : ios) EXPECT_EQ(io.promise.get_future().get(), 0);
  EXPECT_EQ(lun_->counters().reads, kCount);
}

TEST_P(EngineTest, CallbacksRunOnEngineThreadsAndMaySubmit) {
  struct Chain : LunIo {
    Engine* engine = nullptr;
    int left = 20;
    std::promise<bool> promise;
  } chain;
  chain.engine = engine_.get();
  chain.done = [](LunIo& io, int) {
    auto& self = static_cast<Chain&>(io);
    if (--self.left == 0 || !self.engine->on_engine_thread()) {
      self.promise.set_value(self.engine->on_engine_thread());
      return;
    }
    self.next = nullptr;
    self.engine->submit(&self);
  };
  EXPECT_FALSE(engine_->on_engine_thread());
  engine_->submit(&chain);
  EXPECT_TRUE(chain.promise.get_future().get());
  EXPECT_EQ(chain.left, 0);
}

// A thread's requests must survive the thread: the kernel cancels what an exiting thread has
// submitted itself.
TEST_P(EngineTest, SubmitterMayEndBeforeItsIo) {
  for (int i = 0; i < 50; ++i) {
    const Buffer data = pool_->take(kMiB);
    Wait io;
    fill(io, IoKind::kWrite, data.data(), kMiB, 8 * kMiB);
    auto answer = io.promise.get_future();
    std::thread([&] { engine_->submit(&io); }).join();
    ASSERT_EQ(answer.get(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineTest,
                         ::testing::Values(EngineChoice::kUring, EngineChoice::kPosix),
                         [](const auto& engine) {
                           return engine.param == EngineChoice::kUring ? "Uring" : "Posix";
                         });

}  // namespace
}  // namespace symnas::cvm

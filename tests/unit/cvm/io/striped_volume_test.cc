#include "cvm/io/striped_volume.h"

#include <cerrno>
#include <cstring>
#include <thread>

#include <gmock/gmock.h>

#include "tests/unit/cvm/io/held_engine.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kUnit = 64 * kKiB;

class StripedVolumeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    luns_ = {files_.import("LUN0"), files_.import("LUN1")};
    record_ = *create_volume("v1", test_uuid(0xaa), luns_, kUnit);
    auto engine = std::make_unique<HeldEngine>();
    engine_ = engine.get();
    auto opened =
        StripedVolume::open(record_, files_.paths(luns_), {.ofd_byte = 3}, std::move(engine));
    ASSERT_TRUE(opened) << opened.error().message;
    volume_ = std::move(*opened);
    memory_ = volume_->buffer(8 * kUnit);
    std::memset(memory_.data(), 0, memory_.size_bytes());
  }

  std::span<std::byte> memory(std::size_t bytes) { return memory_.span().first(bytes); }
  // A completed volatile write of the first `units` stripe units.
  void write_done(std::size_t units) {
    IoOutcome answer;
    volume_->write(VolumeOffset(0), memory(units * kUnit), Durability::kVolatile,
                   answer.callback());
    engine_->complete_all();
    ASSERT_TRUE(answer.ok());
  }
  std::vector<std::string> held_flushes() const {
    std::vector<std::string> names;
    for (const LunIo* io : engine_->held())
      if (io->kind == IoKind::kFlush) names.push_back(io->lun->name());
    return names;
  }

  LunFiles files_;
  std::vector<records::LunRecord> luns_;
  records::VolumeRecord record_;
  HeldEngine* engine_ = nullptr;
  std::unique_ptr<StripedVolume> volume_;
  Buffer memory_;
};

using Names = std::vector<std::string>;

TEST_F(StripedVolumeTest, AThreadThatMayWaitDoesOnePartItself) {
  std::memset(memory_.data(), 0x5a, kUnit);
  IoOutcome written, read, two_parts, flushed, after;
  {
    const MayWaitForIo may_wait;
    volume_->write(VolumeOffset(0), memory(kUnit), Durability::kVolatile, written.callback());
    EXPECT_TRUE(written.ok()) << "before the call returned";
    std::memset(memory_.data(), 0, kUnit);
    volume_->read(VolumeOffset(0), memory(kUnit), read.callback());
    EXPECT_TRUE(read.ok());
    EXPECT_EQ(memory_.data()[kUnit - 1], std::byte{0x5a});
    EXPECT_TRUE(engine_->held().empty());
    volume_->write(VolumeOffset(0), memory(2 * kUnit), Durability::kVolatile, two_parts.callback());
    EXPECT_EQ(engine_->held().size(), 2u) << "several parts run in parallel";
    MayWaitForIo::end_here();
    volume_->read(VolumeOffset(0), memory(kUnit), after.callback());
    EXPECT_EQ(engine_->held().size(), 3u);
  }
  engine_->complete_all();
  EXPECT_TRUE(two_parts.ok());
  EXPECT_TRUE(after.ok());
  volume_->flush(flushed.callback());
  EXPECT_EQ(held_flushes(), (Names{"LUN0", "LUN1"})) << "what it wrote needs a flush, too";
  engine_->complete_all();
}

TEST_F(StripedVolumeTest, RequestIsSplitIntoParallelPartsWithOneAnswer) {
  IoOutcome answer;
  volume_->write(VolumeOffset(kUnit - 512), memory(kUnit + 1024), Durability::kStable,
                 answer.callback());
  const auto parts = engine_->held();
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(engine_->submits(), 1);
  const struct {
    const char* lun;
    std::uint64_t offset;
    std::uint32_t length;
    std::size_t data;
  } expected[] = {{"LUN0", kReservedBytes + kUnit - 512, 512, 0},
                  {"LUN1", kReservedBytes, kUnit, 512},
                  {"LUN0", kReservedBytes + kUnit, 512, 512 + kUnit}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(parts[i]->kind, IoKind::kWrite);
    EXPECT_EQ(parts[i]->durability, Durability::kStable);
    EXPECT_EQ(parts[i]->lun->name(), expected[i].lun);
    EXPECT_EQ(parts[i]->offset, expected[i].offset);
    EXPECT_EQ(parts[i]->length_bytes, expected[i].length);
    EXPECT_EQ(parts[i]->data, memory_.data() + expected[i].data);
  }
  engine_->complete(parts[2]);
  engine_->complete(parts[0]);
  EXPECT_FALSE(answer.given());
  engine_->complete(parts[1]);
  EXPECT_TRUE(answer.ok());
}

TEST_F(StripedVolumeTest, FailureNamesLunOffsetAndErrno) {
  IoOutcome answer;
  volume_->read(VolumeOffset(kUnit), memory(8192), answer.callback());
  engine_->complete(engine_->held()[0], EIO);
  EXPECT_EQ(answer.code(), ErrorCode::kIo);
  EXPECT_THAT(answer.message(), HasSubstr("lun LUN1: read of 8192 bytes at 1048576"));
  EXPECT_THAT(answer.message(), HasSubstr("errno 5"));
  EXPECT_EQ(volume_->counters()[1].errors, 1u);
  EXPECT_EQ(volume_->counters()[0].errors, 0u);
}

TEST_F(StripedVolumeTest, FenceOutranksOtherErrorsInAnyOrder) {
  for (const auto& [first, second] : {std::pair{EBADE, EIO}, {EIO, EBADE}}) {
    IoOutcome answer;
    volume_->write(VolumeOffset(0), memory(2 * kUnit), Durability::kVolatile, answer.callback());
    const auto parts = engine_->held();
    engine_->complete(parts[0], first);
    engine_->complete(parts[1], second);
    EXPECT_EQ(answer.code(), ErrorCode::kFenced);
  }
}

TEST_F(StripedVolumeTest, BeyondTheEndIsAnsweredWithoutIo) {
  IoOutcome read, write, edges, empty;
  const std::uint64_t size = volume_->size_bytes();
  volume_->read(VolumeOffset(size - 512), memory(1024), read.callback());
  volume_->write(VolumeOffset(size), memory(512), Durability::kStable, write.callback());
  volume_->write_edges(VolumeOffset(size - 1), memory(2), Durability::kStable, edges.callback());
  volume_->read(VolumeOffset(size), memory(0), empty.callback());
  for (const LunIo* io : engine_->held()) EXPECT_EQ(io->kind, IoKind::kNone);
  EXPECT_FALSE(read.given()) << "callbacks come from the engine, never from within the call";
  engine_->complete_all();
  EXPECT_EQ(read.code(), ErrorCode::kOutOfRange);
  EXPECT_EQ(write.code(), ErrorCode::kOutOfRange);
  EXPECT_EQ(edges.code(), ErrorCode::kOutOfRange);
  EXPECT_TRUE(empty.ok());
}

TEST_F(StripedVolumeTest, PartialBlocksOutsideWriteEdgesAreABug) {
  EXPECT_DEATH(volume_->write(VolumeOffset(1), memory(512), Durability::kStable, [](Status) {}),
               "");
  EXPECT_DEATH(volume_->read(VolumeOffset(0), memory(100), [](Status) {}), "");
  EXPECT_DEATH(volume_->read(VolumeOffset(0), memory_.span().subspan(1, 512), [](Status) {}), "");
}

TEST_F(StripedVolumeTest, FlushCoversExactlyTheLunsWrittenSinceTheLast) {
  IoOutcome nothing, one, again;
  volume_->flush(nothing.callback());
  EXPECT_EQ(held_flushes(), Names{});
  engine_->complete_all();
  EXPECT_TRUE(nothing.ok());

  write_done(1);
  volume_->flush(one.callback());
  EXPECT_EQ(held_flushes(), Names{"LUN0"});
  engine_->complete_all();
  EXPECT_TRUE(one.ok());

  volume_->flush(again.callback());
  EXPECT_EQ(held_flushes(), Names{});
  engine_->complete_all();
  EXPECT_TRUE(again.ok());
}

TEST_F(StripedVolumeTest, StableWriteNeedsNoFlush) {
  IoOutcome write, flush;
  volume_->write(VolumeOffset(0), memory(kUnit), Durability::kStable, write.callback());
  engine_->complete_all();
  volume_->flush(flush.callback());
  EXPECT_EQ(held_flushes(), Names{});
  engine_->complete_all();
}

TEST_F(StripedVolumeTest, WriteThatEndsDuringAFlushIsCoveredByTheNext) {
  write_done(1);
  IoOutcome late, first, second;
  volume_->write(VolumeOffset(0), memory(kUnit), Durability::kVolatile, late.callback());
  LunIo* const late_part = engine_->held()[0];
  volume_->flush(first.callback());
  LunIo* const flush_part = engine_->held()[1];
  engine_->complete(late_part);
  engine_->complete(flush_part);
  EXPECT_TRUE(first.ok());
  volume_->flush(second.callback());
  EXPECT_EQ(held_flushes(), Names{"LUN0"})
      << "the device flush was submitted before that write ended";
  engine_->complete_all();
}

TEST_F(StripedVolumeTest, FlushersJoinOnlyARoundThatHasNotBeenSubmitted) {
  write_done(2);
  IoOutcome first, second, third;
  volume_->flush(first.callback());
  EXPECT_EQ(held_flushes(), (Names{"LUN0", "LUN1"}));
  const int submits = engine_->submits();
  volume_->flush(second.callback());
  volume_->flush(third.callback());
  EXPECT_EQ(engine_->submits(), submits) << "they wait together";

  // LUN0 is written meanwhile; the second round must flush it for the callers that came after the
  // first round was submitted.
  IoOutcome write;
  volume_->write(VolumeOffset(0), memory(512), Durability::kVolatile, write.callback());
  engine_->complete(engine_->held().back());
  for (LunIo* io : engine_->held()) engine_->complete(io);
  EXPECT_TRUE(first.ok());
  EXPECT_FALSE(second.given());
  EXPECT_EQ(engine_->submits(), submits + 2) << "the write, and one round for both";
  EXPECT_EQ(held_flushes(), Names{"LUN0"});
  engine_->complete_all();
  EXPECT_TRUE(second.ok() && third.ok());
}

TEST_F(StripedVolumeTest, FailedFlushFailsEveryLaterOne) {
  write_done(2);
  IoOutcome failed, later;
  volume_->flush(failed.callback());
  const auto parts = engine_->held();
  engine_->complete(parts[0]);
  engine_->complete(parts[1], EIO);
  EXPECT_EQ(failed.code(), ErrorCode::kIo);
  volume_->flush(later.callback());
  engine_->complete_all();
  EXPECT_EQ(later.code(), ErrorCode::kIo) << "what the first flush lost no second one brings back";
}

TEST_F(StripedVolumeTest, EdgesAreReadMergedAndWrittenWhole) {
  IoOutcome answer;
  const std::string data(1000, 'x');  // 100 .. 1100: partial blocks 0 and 2, whole block 1
  volume_->write_edges(VolumeOffset(100), std::as_bytes(std::span(data)), Durability::kStable,
                       answer.callback());
  auto reads = engine_->held();
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_EQ(reads[0]->kind, IoKind::kRead);
  EXPECT_EQ(reads[0]->offset, kReservedBytes);
  EXPECT_EQ(reads[1]->offset, kReservedBytes + 1024);
  for (LunIo* io : reads) {
    EXPECT_EQ(io->length_bytes, 512u);
    std::memset(io->data, 'o', 512);
    engine_->complete(io);
  }
  const auto writes = engine_->held();
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(writes[0]->kind, IoKind::kWrite);
  EXPECT_EQ(writes[0]->durability, Durability::kStable);
  EXPECT_EQ(writes[0]->offset, kReservedBytes);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(writes[0]->data), writes[0]->length_bytes),
            std::string(100, 'o') + data + std::string(1536 - 1100, 'o'));
  engine_->complete_all();
  EXPECT_TRUE(answer.ok());
}

TEST_F(StripedVolumeTest, OneBlockIsReadOnceForBothEdges) {
  IoOutcome answer;
  volume_->write_edges(VolumeOffset(10), memory(20), Durability::kVolatile, answer.callback());
  EXPECT_EQ(engine_->held().size(), 1u);
  engine_->complete_all();
  engine_->complete_all();
  EXPECT_TRUE(answer.ok());
}

TEST_F(StripedVolumeTest, FailedEdgeReadWritesNothing) {
  IoOutcome answer;
  volume_->write_edges(VolumeOffset(10), memory(20), Durability::kVolatile, answer.callback());
  engine_->complete(engine_->held()[0], EIO);
  EXPECT_EQ(answer.code(), ErrorCode::kIo);
  EXPECT_TRUE(engine_->held().empty());
}

TEST_F(StripedVolumeTest, WholeBlocksInUnalignedMemoryAreCopiedNotRead) {
  IoOutcome answer;
  volume_->write_edges(VolumeOffset(512), memory_.span().subspan(1, 1024), Durability::kVolatile,
                       answer.callback());
  ASSERT_EQ(engine_->held().size(), 1u);
  EXPECT_EQ(engine_->held()[0]->kind, IoKind::kWrite);
  engine_->complete_all();
  EXPECT_TRUE(answer.ok());
}

TEST_F(StripedVolumeTest, NothingIsSubmittedOnceShutDownBegan) {
  IoOutcome edge, running, waiting;
  write_done(1);
  volume_->write_edges(VolumeOffset(10), memory(20), Durability::kVolatile, edge.callback());
  volume_->flush(running.callback());
  volume_->flush(waiting.callback());
  const int submits = engine_->submits();
  std::thread closer([this] { volume_->shut_down(); });
  // A refused request shows that shut_down() has begun.
  for (;;) {
    IoOutcome probe;
    volume_->read(VolumeOffset(0), memory(512), probe.callback());
    if (probe.code() == ErrorCode::kShutdown) break;
    engine_->complete(engine_->held().back());
  }
  const int before = engine_->submits();
  engine_->complete_all();
  closer.join();
  EXPECT_EQ(engine_->submits(), before);
  EXPECT_GE(before, submits);
  EXPECT_EQ(edge.code(), ErrorCode::kShutdown) << "its second half was not begun";
  EXPECT_TRUE(running.ok());
  EXPECT_EQ(waiting.code(), ErrorCode::kShutdown);
}

TEST_F(StripedVolumeTest, GrowAppendsWhileIoRuns) {
  IoOutcome old_io, new_io;
  volume_->write(VolumeOffset(0), memory(kUnit), Durability::kVolatile, old_io.callback());
  const records::LunRecord added[] = {files_.import("LUN2")};
  const auto grown = *grow_volume(record_, luns_, added);
  const std::uint64_t before = volume_->size_bytes();
  ASSERT_TRUE(volume_->grow(grown, files_.paths({added[0]})));
  EXPECT_EQ(volume_->version(), 2u);
  EXPECT_EQ(volume_->size_bytes(), volume_size_bytes(grown));
  volume_->write(VolumeOffset(before), memory(512), Durability::kVolatile, new_io.callback());
  EXPECT_EQ(engine_->held()[1]->lun->name(), "LUN2");
  engine_->complete_all();
  EXPECT_TRUE(old_io.ok() && new_io.ok());
  EXPECT_EQ(volume_->counters().size(), 3u);
}

TEST_F(StripedVolumeTest, GrowRefusesWhatIsNoExtensionAndGoesOn) {
  const records::LunRecord added[] = {files_.import("LUN2")};
  const auto grown = *grow_volume(record_, luns_, added);
  const auto refused = [&](records::VolumeRecord record, std::vector<LunPath> paths) {
    const Status status = volume_->grow(record, paths);
    EXPECT_EQ(volume_->version(), 1u);
    return status ? ErrorCode::kInternal : status.error().code;
  };
  auto other = grown;
  other.set_uuid(uuid_to_bytes(test_uuid(0xbb)));
  EXPECT_EQ(refused(other, files_.paths({added[0]})), ErrorCode::kInvalidArgument);
  auto moved = grown;
  moved.mutable_segments(0)->mutable_lun_uuids()->SwapElements(0, 1);
  EXPECT_EQ(refused(moved, files_.paths({added[0]})), ErrorCode::kInvalidArgument);
  auto unit = grown;
  unit.set_stripe_unit_bytes(2 * kUnit);
  EXPECT_EQ(refused(unit, files_.paths({added[0]})), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused(grown, {}), ErrorCode::kNotFound);
  EXPECT_TRUE(volume_->grow(record_, {})) << "the record in use is nothing new";
}

}  // namespace
}  // namespace symnas::cvm

#include "fsal_cluster/pulse/pulse.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace symnas::fs {
namespace {

TEST(Pulse, AReaderSeesWhatIsWrittenWithoutAsking) {
  auto writer = PulseWriter::create();
  ASSERT_TRUE(writer) << writer.error().message;
  const auto early = PulseReader::open(::getpid());
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::kNotFound) << "nothing has been written";
  writer->write({1, 2, 5, 6});
  const auto reader = PulseReader::open(::getpid());
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->read().beat_ns, 1);
  EXPECT_EQ(reader->read().open_until_ns, 2);
  EXPECT_EQ(reader->read().first_request_ns, 5);
  EXPECT_EQ(reader->read().last_reclaim_ns, 6);
  writer->write({.beat_ns = 3, .open_until_ns = kAlwaysOpen});
  EXPECT_EQ(reader->read().beat_ns, 3);
  EXPECT_EQ(reader->read().open_until_ns, kAlwaysOpen);
}

TEST(Pulse, IsThereForReadersWhenItsWriterHasGone) {
  auto writer = PulseWriter::create();
  ASSERT_TRUE(writer);
  writer->write({.beat_ns = 7, .open_until_ns = 8});
  const auto reader = PulseReader::open(::getpid());
  ASSERT_TRUE(reader);
  writer = fail(ErrorCode::kIo, "gone");
  EXPECT_EQ(reader->read().beat_ns, 7);
  const auto late = PulseReader::open(::getpid());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kNotFound);
}

TEST(Pulse, AProcessWithoutOneIsSaid) {
  const auto reader = PulseReader::open(1 << 30);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace symnas::fs

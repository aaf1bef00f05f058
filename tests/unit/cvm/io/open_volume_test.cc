#include "cvm/io/open_volume.h"

#include <cstring>

#include <gmock/gmock.h>

#include "cvm/ofd_lock.h"
#include "tests/unit/cvm/io/waiting.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

using ::testing::HasSubstr;

class OpenVolumeTest : public ::testing::TestWithParam<EngineChoice> {
 protected:
  void SetUp() override {
    luns_ = {files_.import("LUN0"), files_.import("LUN1")};
    record_ = *create_volume("v1", test_uuid(0xaa), luns_, 64 * kKiB);
  }
  Result<std::shared_ptr<OpenVolume>> open(std::uint32_t byte = 3) {
    return open_volume(record_, files_.paths(luns_), {.ofd_byte = byte, .engine = GetParam()});
  }
  ErrorCode open_code() {
    const auto opened = open();
    return opened ? ErrorCode::kInternal : opened.error().code;
  }
  Uuid uuid_of(int lun) { return *uuid_from_bytes(luns_[static_cast<std::size_t>(lun)].uuid()); }

  LunFiles files_;
  std::vector<records::LunRecord> luns_;
  records::VolumeRecord record_;
};

TEST_P(OpenVolumeTest, WritesAreThereAfterReopening) {
  const auto size = std::size_t{3} * 64 * kKiB;
  {
    const auto volume = open();
    ASSERT_TRUE(volume) << volume.error().message;
    EXPECT_EQ((*volume)->size_bytes(), volume_size_bytes(record_));
    EXPECT_EQ((*volume)->logical_block_bytes(), 512u);
    const Buffer out = (*volume)->buffer(size);
    std::memset(out.data(), 'd', size);
    ASSERT_TRUE(write_now(**volume, 512, out.span().first(size), Durability::kStable));
    ASSERT_TRUE(flush_now(**volume));
  }
  const auto volume = open();
  ASSERT_TRUE(volume) << volume.error().message;
  const Buffer in = (*volume)->buffer(size + 1024);
  ASSERT_TRUE(read_now(**volume, 0, in.span().first(size + 1024)));
  const std::string got(reinterpret_cast<char*>(in.data()), size + 1024);
  EXPECT_TRUE(got == std::string(512, '\0') + std::string(size, 'd') + std::string(512, '\0'));
}

TEST_P(OpenVolumeTest, ByteIsHeldOnEveryLunWhileOpen) {
  auto volume = open(3);
  ASSERT_TRUE(volume);
  const auto second = open(3);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_THAT(second.error().message, HasSubstr("LUN0"));
  EXPECT_TRUE(open(4)) << "another VNFS's byte";
  for (const char* name : {"LUN0", "LUN1"}) {
    const UniqueFd daemon(::open(files_.path(name).c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(obtain_ofd_byte(daemon.get(), 3, 0).error().code, ErrorCode::kBusy);
    EXPECT_TRUE(obtain_ofd_byte(daemon.get(), 4, 0));
  }
  volume->reset();
  EXPECT_TRUE(open(3)) << "closing gives every byte back at once";
}

TEST_P(OpenVolumeTest, FailedOpenKeepsNoByte) {
  std::filesystem::rename(files_.path("LUN1"), files_.path("gone"));
  EXPECT_EQ(open_code(), ErrorCode::kNotFound);
  const UniqueFd daemon(::open(files_.path("LUN0").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_TRUE(obtain_ofd_byte(daemon.get(), 3, 0));
}

TEST_P(OpenVolumeTest, LunsAreKnownByLabelNotByPath) {
  std::filesystem::rename(files_.path("LUN0"), files_.path("tmp"));
  std::filesystem::rename(files_.path("LUN1"), files_.path("LUN0"));
  std::filesystem::rename(files_.path("tmp"), files_.path("LUN1"));
  const auto swapped = open();
  ASSERT_FALSE(swapped);
  EXPECT_EQ(swapped.error().code, ErrorCode::kForeign);
  EXPECT_THAT(swapped.error().message, HasSubstr("LUN1"));
}

TEST_P(OpenVolumeTest, ForeignVolumeAndMissingLunAreRefused) {
  ASSERT_TRUE(assign_lun(files_.path("LUN1"), kCluster, uuid_of(1), test_uuid(0xbb)));
  EXPECT_EQ(open_code(), ErrorCode::kForeign);
  const auto missing = open_volume(record_, files_.paths({luns_[0]}), {.ofd_byte = 3});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr(uuid_of(1).to_string()));
}

TEST_P(OpenVolumeTest, DamagedOrCutOffLunIsRefused) {
  std::filesystem::resize_file(files_.path("LUN0"), kLunBytesMin - 4096);
  EXPECT_EQ(open_code(), ErrorCode::kCorrupt);
  std::filesystem::resize_file(files_.path("LUN0"), kLunBytesMin);
  EXPECT_TRUE(open()) << "the first label copy is enough";
  record_.mutable_segments(0)->set_bytes_per_lun(kLunBytesMin);
  EXPECT_EQ(open_code(), ErrorCode::kCorrupt) << "the record claims more than the labels give";
}

TEST_P(OpenVolumeTest, HardLinkedLunIsRefused) {
  std::filesystem::create_hard_link(files_.path("LUN0"), files_.path("alias"));
  EXPECT_EQ(open_code(), ErrorCode::kBusy);
}

TEST_P(OpenVolumeTest, ErrorsOfTheDeviceAreNamedAndCounted) {
  const auto volume = open();
  ASSERT_TRUE(volume);
  std::filesystem::resize_file(files_.path("LUN1"), kReservedBytes);  // its data is gone
  const Buffer in = (*volume)->buffer(128 * kKiB);
  const Status read = read_now(**volume, 0, in.span().first(128 * kKiB));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kIo);
  EXPECT_THAT(read.error().message, HasSubstr("lun LUN1: read of 65536 bytes at 1048576"));
  EXPECT_THAT(read.error().message, HasSubstr("errno 61"));
  const auto counters = (*volume)->counters();
  EXPECT_EQ(counters[0].errors, 0u);
  EXPECT_EQ(counters[1].errors, 1u);
  EXPECT_EQ(counters[0].reads, 1u);
  EXPECT_EQ(counters[0].read_bytes, 64u * kKiB);
  EXPECT_GE(counters[0].latency_us_total, counters[0].latency_us_max);
}

TEST_P(OpenVolumeTest, UnalignedWritesKeepTheirNeighbours) {
  const auto volume = open();
  ASSERT_TRUE(volume);
  const Buffer block = (*volume)->buffer(2048);
  std::memset(block.data(), 'o', 2048);
  const std::uint64_t at = 64 * kKiB - 1024;  // across a stripe unit
  ASSERT_TRUE(write_now(**volume, at, block.span().first(2048)));
  const std::string data(1301, 'x');
  ASSERT_TRUE(
      write_edges_now(**volume, at + 333, std::as_bytes(std::span(data)), Durability::kStable));
  ASSERT_TRUE(read_now(**volume, at, block.span().first(2048)));
  EXPECT_EQ(std::string(reinterpret_cast<char*>(block.data()), 2048),
            std::string(333, 'o') + data + std::string(2048 - 333 - 1301, 'o'));
}

TEST_P(OpenVolumeTest, LastReferenceMayGoInACallback) {
  std::promise<void> done;
  {
    auto opened = open();
    ASSERT_TRUE(opened);
    auto buffer = std::make_shared<Buffer>((*opened)->buffer(4096));
    VolumeIo* io = opened->get();
    io->read(VolumeOffset(0), buffer->span().first(4096),
             [volume = std::move(*opened), buffer, &done](Status status) mutable {
               EXPECT_TRUE(status);
               volume.reset();
               done.set_value();
             });
  }
  done.get_future().get();
  // Another thread closes the volume; the locks are released when that thread is done.
  const UniqueFd daemon(::open(files_.path("LUN0").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_TRUE(obtain_ofd_byte(daemon.get(), 3, 5000));
}

TEST_P(OpenVolumeTest, OptionsAreChecked) {
  for (const std::uint32_t depth : {0u, kQueueDepthMax + 1})
    EXPECT_EQ(open_volume(record_, files_.paths(luns_), {.queue_depth = depth}).error().code,
              ErrorCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Engines, OpenVolumeTest,
                         ::testing::Values(EngineChoice::kUring, EngineChoice::kPosix),
                         [](const auto& engine) {
                           return engine.param == EngineChoice::kUring ? "Uring" : "Posix";
                         });

}  // namespace
}  // namespace symnas::cvm

// INV-1 on a real kernel: an instance is killed with a write in flight. Its OFD byte must stay held
// until that write has reached the medium, however soon the process is reaped.
#include <filesystem>

#include "cvm/io/open_volume.h"
#include "cvm/ofd_lock.h"
#include "tests/contract/cvm/held_file.h"
#include "tests/contract/cvm/instance_process.h"
#include "tests/contract/cvm/loop_device.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

constexpr std::uint32_t kByte = kInstanceByte;
constexpr int kDeadlineMs = kInstanceDeadlineMs;

class EndOfInstance : public ::testing::TestWithParam<EngineChoice> {};

TEST_P(EndOfInstance, ByteIsHeldUntilTheLastWriteHasLanded) {
  InstanceProcess instance(GetParam());
  const LunFiles files;
  const std::string mount_point = files.path("mnt");
  std::filesystem::create_directory(mount_point);
  auto medium = HeldFile::mount(mount_point, kLunBytesMin);
  if (!medium) GTEST_SKIP() << medium.error().message;
  auto loop = LoopDevice::attach((*medium)->path());
  if (!loop) GTEST_SKIP() << loop.error().message;
  const auto lun = import_lun({.cluster = kCluster, .name = "LUN0", .path = loop->path()});
  ASSERT_TRUE(lun) << lun.error().message;
  const auto record = *create_volume("v1", test_uuid(0xaa), std::span(&*lun, 1), kMiB);
  // As vnfsd keeps it.
  const auto daemon = LunDevice::open(loop->path(), Access::kWrite);
  ASSERT_TRUE(daemon) << daemon.error().message;
  ASSERT_TRUE(obtain_ofd_byte(daemon->fd(), kByte, 0));

  (*medium)->hold();
  instance.start(loop->path(), *uuid_from_bytes(lun->uuid()), record);
  ASSERT_TRUE((*medium)->wait_for_held(kDeadlineMs)) << "the instance has not written";
  EXPECT_EQ(obtain_ofd_byte(daemon->fd(), kByte, 0).error().code, ErrorCode::kBusy);

  instance.kill();
  const bool reaped_early = instance.wait_for_reap(300);
  RecordProperty("reaped_before_the_write_landed", reaped_early ? "yes" : "no");
  EXPECT_EQ((*medium)->content(kReservedBytes, 4), std::string(4, '\0'));
  const Status early = obtain_ofd_byte(daemon->fd(), kByte, 50);
  ASSERT_FALSE(early) << "the proof was given with a write in flight";
  EXPECT_EQ(early.error().code, ErrorCode::kBusy);
  EXPECT_TRUE(obtain_ofd_byte(daemon->fd(), kByte + 1, 0)) << "other instances are not concerned";

  (*medium)->let_go();
  const Status proof = obtain_ofd_byte(daemon->fd(), kByte, kDeadlineMs);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ((*medium)->content(kReservedBytes, 4), "WWWW") << "nothing may land after the proof";
  EXPECT_TRUE(instance.wait_for_reap(kDeadlineMs));
}

INSTANTIATE_TEST_SUITE_P(Engines, EndOfInstance,
                         ::testing::Values(EngineChoice::kUring, EngineChoice::kPosix),
                         [](const auto& engine) {
                           return engine.param == EngineChoice::kUring ? "Uring" : "Posix";
                         });

}  // namespace
}  // namespace symnas::cvm

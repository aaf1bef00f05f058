// What the kernel does with OFD locks on aliases of one device, and that cvm is not deceived by it.
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <gmock/gmock.h>

#include "cvm/io/open_volume.h"
#include "cvm/ofd_lock.h"
#include "tests/contract/cvm/loop_device.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

using ::testing::HasSubstr;

#define ATTACH_OR_SKIP(name, file)                                       \
  auto name##_attached = LoopDevice::attach(file);                       \
  if (!name##_attached) GTEST_SKIP() << name##_attached.error().message; \
  LoopDevice name = std::move(*name##_attached)

class LunAlias : public ::testing::Test {
 protected:
  void SetUp() override {
    struct stat st {};
    if (::stat("/dev/loop-control", &st) != 0 || ::geteuid() != 0)
      GTEST_SKIP() << "needs root and /dev/loop-control";
  }
  // Makes a second node of the device at `path`.
  std::string second_node(const std::string& path) {
    struct stat st {};
    EXPECT_EQ(::stat(path.c_str(), &st), 0);
    const std::string node = files_.path("second-node");
    EXPECT_EQ(::mknod(node.c_str(), S_IFBLK | 0600, st.st_rdev), 0);
    return node;
  }
  // A one-LUN volume on the device at `path`, which is imported for it.
  records::VolumeRecord volume_on(const std::string& path) {
    auto lun = import_lun({.cluster = kCluster, .name = "LUN0", .path = path});
    EXPECT_TRUE(lun) << lun.error().message;
    lun_ = *uuid_from_bytes(lun->uuid());
    return *create_volume("v1", test_uuid(0xaa), std::span(&*lun, 1), kMiB);
  }
  Result<std::shared_ptr<OpenVolume>> open(const records::VolumeRecord& record,
                                           const std::string& path) {
    const LunPath where{"LUN0", lun_, path};
    return open_volume(record, std::span(&where, 1), {.ofd_byte = 7});
  }
  // Whether a second opener is granted the byte that `holder` holds: the lock does not work between
  // the two paths.
  bool grants_held_byte(const std::string& holder, const std::string& other) {
    const UniqueFd first(::open(holder.c_str(), O_RDWR | O_CLOEXEC));
    const UniqueFd second(::open(other.c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_TRUE(hold_ofd_byte(first.get(), 7));
    return hold_ofd_byte(second.get(), 7).has_value();
  }

  LunFiles files_;
  Uuid lun_;
};

// The fact for which cvm uses canonical nodes. If this fails, the kernel has changed for the
// better.
TEST_F(LunAlias, KernelGrantsAHeldByteThroughEveryAlias) {
  const std::string file = files_.make("disk");
  ATTACH_OR_SKIP(loop, file);
  EXPECT_TRUE(grants_held_byte(loop.path(), second_node(loop.path())));
  EXPECT_TRUE(grants_held_byte(loop.path(), file));
  ATTACH_OR_SKIP(twin, file);
  EXPECT_TRUE(grants_held_byte(loop.path(), twin.path()));
  EXPECT_FALSE(grants_held_byte(loop.path(), loop.path()));
}

TEST_F(LunAlias, SecondNodeOfADeviceLeadsToTheKernelsOwn) {
  ATTACH_OR_SKIP(loop, files_.make("disk"));
  const auto node = canonical_lun_node(second_node(loop.path()));
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->path, loop.path());
  EXPECT_EQ(node->kind, LunKind::kBlockDevice);
}

TEST_F(LunAlias, OpenThroughASecondNodeMeetsTheHeldByte) {
  ATTACH_OR_SKIP(loop, files_.make("disk"));
  const auto record = volume_on(loop.path());
  const auto first = open(record, loop.path());
  ASSERT_TRUE(first) << first.error().message;
  const auto second = open(record, second_node(loop.path()));
  ASSERT_FALSE(second) << "two instances would have the same byte";
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
}

TEST_F(LunAlias, SecondLoopDeviceOnOneFileIsRefusedNamingIt) {
  const std::string file = files_.make("disk");
  ATTACH_OR_SKIP(loop, file);
  const auto record = volume_on(loop.path());
  ATTACH_OR_SKIP(twin, file);
  for (const auto& [path, other] :
       {std::pair{loop.path(), twin.path()}, {twin.path(), loop.path()}}) {
    const auto refused = open(record, path);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
    EXPECT_THAT(refused.error().message, HasSubstr(other));
    EXPECT_EQ(import_lun({.cluster = kCluster, .name = "LUN0", .path = path}).error().code,
              ErrorCode::kBusy);
  }
}

TEST_F(LunAlias, FileUnderALoopDeviceIsRefused) {
  const std::string file = files_.make("disk");
  const auto record = volume_on(file);
  ATTACH_OR_SKIP(loop, file);
  const auto refused = open(record, file);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  EXPECT_THAT(refused.error().message, HasSubstr(loop.path()));
}

TEST_F(LunAlias, ScanRefusesLoopTwinsAndReportsBoth) {
  const std::string file = files_.make("disk");
  ATTACH_OR_SKIP(loop, file);
  volume_on(loop.path());
  ATTACH_OR_SKIP(twin, file);
  const std::string candidates[] = {loop.path(), twin.path(), file};
  const auto scan = scan_luns(kCluster, candidates);
  ASSERT_TRUE(scan);
  EXPECT_TRUE(scan->found.empty());
  EXPECT_EQ(scan->problems.size(), 3u);
}

TEST_F(LunAlias, ScanFindsALoopDeviceByAnyName) {
  ATTACH_OR_SKIP(loop, files_.make("disk"));
  volume_on(loop.path());
  const std::string candidates[] = {second_node(loop.path()), loop.path()};
  const auto scan = scan_luns(kCluster, candidates);
  ASSERT_TRUE(scan);
  ASSERT_EQ(scan->found.size(), 1u);
  EXPECT_EQ(scan->found[0].path, loop.path());
}

TEST_F(LunAlias, ExclusivelyOpenedDeviceIsInUse) {
  ATTACH_OR_SKIP(loop, files_.make("disk"));
  // Opens it exclusively, as a mount, swap or dm does.
  const UniqueFd user(::open(loop.path().c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
  ASSERT_TRUE(user.valid());
  const auto refused =
      import_lun({.cluster = kCluster, .name = "LUN0", .path = loop.path(), .force_name = "LUN0"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
}

}  // namespace
}  // namespace symnas::cvm

#include "cvm/lun.h"

#include <gmock/gmock.h>

#include "cvm/label_io.h"
#include "cvm/ofd_lock.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::cvm {
namespace {

using ::testing::HasSubstr;

LunImport request(const std::string& name, const std::string& path, const std::string& force = "") {
  return {.cluster = kCluster, .name = name, .path = path, .force_name = force};
}

Uuid uuid_of(const records::LunRecord& lun) { return *uuid_from_bytes(lun.uuid()); }

LunLabel label_at(const std::string& path) {
  const auto device = LunDevice::open(path, Access::kRead);
  const auto copies = read_label(*device);
  EXPECT_TRUE(copies) << copies.error().message;
  return copies ? copies->label : LunLabel{};
}

ErrorCode code(const Result<records::LunRecord>& result) {
  return result ? ErrorCode::kInternal : result.error().code;
}

class Lun : public ::testing::Test {
 protected:
  LunFiles files_;
};

TEST_F(Lun, ImportLabelsTheDeviceAndReturnsItsRecord) {
  const std::string path = files_.make("disk", kLunBytesMin + 512);
  const auto lun = import_lun(request("LUN0", path));
  ASSERT_TRUE(lun) << lun.error().message;
  EXPECT_EQ(lun->name(), "LUN0");
  EXPECT_EQ(lun->size_bytes(), kLunBytesMin);  // whole label blocks
  EXPECT_EQ(lun->logical_block_bytes(), 512u);
  EXPECT_EQ(lun->volume(), "");
  const LunLabel label = label_at(path);
  EXPECT_EQ(label.lun, uuid_of(*lun));
  EXPECT_EQ(label.cluster, kCluster);
  EXPECT_TRUE(label.volume.is_nil());
}

TEST_F(Lun, RepeatedImportOfTheSameFreeLunReturnsIt) {
  const auto lun = files_.import("LUN0");
  const auto again = import_lun(request("LUN0", files_.path("LUN0")));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->uuid(), lun.uuid());
}

TEST_F(Lun, ImportUnderASecondNameIsRefused) {
  files_.import("LUN0");
  const auto again = import_lun(request("LUN1", files_.path("LUN0"), "LUN1"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kAlreadyExists);
  EXPECT_THAT(again.error().message, HasSubstr("LUN0"));
}

TEST_F(Lun, ImportOfALunInAVolumeIsRefusedEvenWithForce) {
  const auto lun = files_.import("LUN0");
  ASSERT_TRUE(assign_lun(files_.path("LUN0"), kCluster, uuid_of(lun), test_uuid(0x77)));
  EXPECT_EQ(code(import_lun(request("LUN0", files_.path("LUN0"), "LUN0"))),
            ErrorCode::kAlreadyExists);
}

TEST_F(Lun, ALabelThatNoRecordNamesIsReplacedByForce) {
  const auto lun = files_.import("LUN0");
  const std::string path = files_.path("LUN0");
  ASSERT_TRUE(assign_lun(path, kCluster, uuid_of(lun), test_uuid(0x77)));
  LunImport import = request("LUN1", path);
  import.recorded = {test_uuid(0x55)};
  const auto refused = import_lun(import);
  EXPECT_EQ(code(refused), ErrorCode::kAlreadyExists);
  EXPECT_THAT(refused.error().message, HasSubstr("force import of LUN1"));
  import.force_name = "LUN1";
  import.recorded->push_back(uuid_of(lun));
  EXPECT_EQ(code(import_lun(import)), ErrorCode::kAlreadyExists);
  import.recorded->pop_back();
  ASSERT_TRUE(import_lun(import));
  EXPECT_NE(label_at(path).lun, uuid_of(lun));
  EXPECT_TRUE(label_at(path).volume.is_nil());
}

TEST_F(Lun, ReleaseAfterAnInterruptedVolumeChange) {
  const auto lun = files_.import("LUN0");
  const std::string path = files_.path("LUN0");
  ASSERT_TRUE(assign_lun(path, kCluster, uuid_of(lun), test_uuid(0x77)));
  ASSERT_TRUE(assign_lun(path, kCluster, uuid_of(lun), Uuid{}));  // what the agent does first
  EXPECT_TRUE(release_lun(path, kCluster, uuid_of(lun)));
}

TEST_F(Lun, TooSmallIsRefused) {
  EXPECT_EQ(code(import_lun(request("LUN0", files_.make("small", kLunBytesMin - 1), "LUN0"))),
            ErrorCode::kInvalidArgument);
}

TEST_F(Lun, WhatIsNotThereOrNoDeviceIsRefused) {
  EXPECT_EQ(code(import_lun(request("LUN0", files_.path("nothing")))), ErrorCode::kNotFound);
  EXPECT_EQ(code(import_lun(request("LUN0", files_.directory()))), ErrorCode::kInvalidArgument);
}

TEST_F(Lun, BadNamesAreRefusedBeforeTheDeviceIsTouched) {
  const std::string path = files_.make("disk");
  EXPECT_EQ(code(import_lun(request("a/b", path))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(import_lun(request("LUN0", path, "LUN1"))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(read_file_bytes(path, 0, kLabelBytes), std::string(kLabelBytes, '\0'));
}

TEST_F(Lun, ForeignLabelNeedsForceByName) {
  const auto foreign = files_.import("LUN0");
  LunImport mine = request("LUN7", files_.path("LUN0"));
  mine.cluster = test_uuid(0xdd);
  const auto refused = import_lun(mine);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kForeign);
  EXPECT_THAT(refused.error().message, HasSubstr(kCluster.to_string()));
  EXPECT_EQ(label_at(files_.path("LUN0")).lun, uuid_of(foreign));
  mine.force_name = "LUN7";
  const auto taken = import_lun(mine);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(label_at(files_.path("LUN0")).cluster, test_uuid(0xdd));
}

TEST_F(Lun, DamagedLabelNeedsForceByName) {
  files_.import("LUN0");
  patch_file(files_.path("LUN0"), 100, "scribble");
  patch_file(files_.path("LUN0"), kLunBytesMin - 100, "scribble");
  EXPECT_EQ(code(import_lun(request("LUN0", files_.path("LUN0")))), ErrorCode::kCorrupt);
  EXPECT_TRUE(import_lun(request("LUN0", files_.path("LUN0"), "LUN0")));
}

// A swap header, and an MBR with one partition: the shortest superblock and the shortest partition
// table.
std::string with_swap(const LunFiles& files) {
  const std::string path = files.make("swap");
  patch_file(path, 1024, std::string("\1\0\0\0\xff\x3f\0\0", 8));
  return patch_file(path, 4096 - 10, "SWAPSPACE2");
}
std::string with_partitions(const LunFiles& files) {
  const std::string path = files.make("mbr");
  patch_file(path, 446, std::string("\0\0\2\0\x83\0\0\0\0\x08\0\0\0\0\1\0", 16));
  return patch_file(path, 510, "\x55\xaa");
}

TEST_F(Lun, FilesystemsAndPartitionTablesNeedForceByName) {
  for (const auto& [path, word] :
       {std::pair{with_swap(files_), "swap"}, {with_partitions(files_), "dos partition table"}}) {
    const auto refused = import_lun(request("LUN0", path));
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code, ErrorCode::kForeign);
    EXPECT_THAT(refused.error().message, HasSubstr(word));
    EXPECT_THAT(refused.error().message, HasSubstr("force"));
    EXPECT_TRUE(import_lun(request("LUN0", path, "LUN0")));
  }
}

TEST_F(Lun, ForcedImportLeavesNoOldSignatureAtEitherEnd) {
  const std::string path = with_swap(files_);
  patch_file(path, 64 * kKiB, "_BHRfS_M");
  patch_file(path, kLunBytesMin - 33 * 512, "EFI PART");
  ASSERT_TRUE(import_lun(request("LUN0", path, "LUN0")));
  EXPECT_EQ(read_file_bytes(path, kLabelBytes, kMiB - kLabelBytes),
            std::string(kMiB - kLabelBytes, '\0'));
  EXPECT_EQ(read_file_bytes(path, kLunBytesMin - kMiB, kMiB - kLabelBytes),
            std::string(kMiB - kLabelBytes, '\0'));
}

TEST_F(Lun, DeviceWithALockedByteIsInUse) {
  const auto lun = files_.import("LUN0");
  const std::string path = files_.path("LUN0");
  const UniqueFd instance(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(hold_ofd_byte(instance.get(), 3));
  EXPECT_EQ(code(import_lun(request("LUN0", path))), ErrorCode::kBusy);
  EXPECT_EQ(release_lun(path, kCluster, uuid_of(lun)).error().code, ErrorCode::kBusy);
  EXPECT_EQ(assign_lun(path, kCluster, uuid_of(lun), test_uuid(1)).error().code, ErrorCode::kBusy);
}

TEST_F(Lun, HardLinksAreRefused) {
  const std::string path = files_.make("disk");
  std::filesystem::create_hard_link(path, files_.path("other"));
  const auto refused = import_lun(request("LUN0", path));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  EXPECT_THAT(refused.error().message, HasSubstr("hard links"));
}

TEST_F(Lun, SymlinkLeadsToTheSameLun) {
  const auto lun = files_.import("LUN0");
  std::filesystem::create_symlink(files_.path("LUN0"), files_.path("link"));
  EXPECT_EQ(import_lun(request("LUN0", files_.path("link")))->uuid(), lun.uuid());
}

TEST_F(Lun, ReleaseWipesTheLabel) {
  const auto lun = files_.import("LUN0");
  ASSERT_TRUE(release_lun(files_.path("LUN0"), kCluster, uuid_of(lun)));
  EXPECT_EQ(release_lun(files_.path("LUN0"), kCluster, uuid_of(lun)).error().code,
            ErrorCode::kNotFound);
  EXPECT_NE(import_lun(request("LUN0", files_.path("LUN0")))->uuid(), lun.uuid());
}

TEST_F(Lun, ReleaseRefusesUsedAndOtherLuns) {
  const auto lun = files_.import("LUN0");
  const std::string path = files_.path("LUN0");
  EXPECT_EQ(release_lun(path, kCluster, test_uuid(9)).error().code, ErrorCode::kForeign);
  EXPECT_EQ(release_lun(path, test_uuid(9), uuid_of(lun)).error().code, ErrorCode::kForeign);
  ASSERT_TRUE(assign_lun(path, kCluster, uuid_of(lun), test_uuid(0x77)));
  EXPECT_EQ(release_lun(path, kCluster, uuid_of(lun)).error().code, ErrorCode::kBusy);
  ASSERT_TRUE(assign_lun(path, kCluster, uuid_of(lun), Uuid{}));
  EXPECT_TRUE(release_lun(path, kCluster, uuid_of(lun)));
}

TEST_F(Lun, AssignNotesTheVolumeOnce) {
  const auto lun = files_.import("LUN0");
  const std::string path = files_.path("LUN0");
  ASSERT_TRUE(assign_lun(path, kCluster, uuid_of(lun), test_uuid(0x77)));
  EXPECT_EQ(label_at(path).volume, test_uuid(0x77));
  EXPECT_EQ(label_at(path).generation, 2u);
  ASSERT_TRUE(assign_lun(path, kCluster, uuid_of(lun), test_uuid(0x77)));
  EXPECT_EQ(label_at(path).generation, 2u);
  EXPECT_EQ(assign_lun(path, kCluster, uuid_of(lun), test_uuid(0x78)).error().code,
            ErrorCode::kBusy);
}

}  // namespace
}  // namespace symnas::cvm

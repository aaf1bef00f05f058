// Which LUNs a head has open, and on which inode it proves that an instance's I/O has ended.
#include "vnfsd/daemon/luns/luns.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "cvm/ofd_lock.h"
#include "tests/unit/cvm/lun_files.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr VnfsId kVnfs{3};
constexpr std::int64_t kTimeoutMs = 50;

class LunSetTest : public ::testing::Test {
 protected:
  LunSetTest() : record_(files_.import("LUN0")), set_(cvm::kCluster) {
    view_.luns["LUN0"].record = record_;
    path_ = files_.path("LUN0");
  }
  bool scan() { return set_.scan(view_, {path_}); }
  Status obtain() { return set_.obtain_bytes({&record_}, opened_, kVnfs, kTimeoutMs); }
  // What an instance that starts now would be told, and keep open.
  void start_instance() {
    for (const instance::LunPath& lun : set_.paths()) {
      opened_.push_back({lun.uuid, lun.lock_device, lun.lock_inode});
    }
    instance_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(cvm::hold_ofd_byte(instance_.get(), kVnfs.value()));
  }
  // Another file with the same label takes its name, as a restored copy would.
  void replace() {
    const std::string copy = files_.path("copy");
    std::filesystem::copy_file(path_, copy);
    std::filesystem::rename(copy, path_);
  }

  cvm::LunFiles files_;
  cvm::records::LunRecord record_;
  ClusterView view_;
  std::string path_;
  LunSet set_;
  std::vector<instance::LunIdentity> opened_;
  UniqueFd instance_;
};

TEST_F(LunSetTest, ProvesWhenTheInstanceIsGone) {
  EXPECT_TRUE(scan());
  EXPECT_TRUE(set_.complete(view_));
  EXPECT_FALSE(scan()) << "nothing new";
  start_instance();
  EXPECT_EQ(obtain().error().code, ErrorCode::kBusy);
  instance_ = UniqueFd();
  EXPECT_TRUE(obtain());
}

TEST_F(LunSetTest, AReplacedFileProvesNothing) {
  ASSERT_TRUE(scan());
  start_instance();
  replace();
  const Status before = obtain();
  ASSERT_FALSE(before);
  EXPECT_EQ(before.error().code, ErrorCode::kNotFound) << before.error().message;
  EXPECT_FALSE(set_.complete(view_)) << "it is looked for again";
  // Found anew: its lock is free, and the instance still writes to the other one.
  EXPECT_TRUE(scan());
  EXPECT_TRUE(set_.complete(view_));
  const Status after = obtain();
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, ErrorCode::kNotFound) << after.error().message;
}

// The set has the old file open, the instance was started on the new one.
TEST_F(LunSetTest, AnInstanceOnTheReplacementIsNotProvedOnTheOldFile) {
  ASSERT_TRUE(scan());
  replace();
  start_instance();
  EXPECT_EQ(obtain().error().code, ErrorCode::kNotFound);
}

TEST_F(LunSetTest, WhatReturnsIsOpenedAnew) {
  ASSERT_TRUE(scan());
  std::filesystem::rename(path_, files_.path("away"));
  EXPECT_FALSE(set_.complete(view_));
  EXPECT_TRUE(scan());
  EXPECT_EQ(set_.sights().front().path, "");
  EXPECT_EQ(obtain().error().code, ErrorCode::kNotFound);
  std::filesystem::copy_file(files_.path("away"), path_);
  EXPECT_TRUE(scan());
  EXPECT_TRUE(set_.complete(view_));
  start_instance();
  instance_ = UniqueFd();
  EXPECT_TRUE(obtain());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

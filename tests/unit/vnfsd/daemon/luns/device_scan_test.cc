// What hangs keeps nothing else from being looked at.
#include "vnfsd/daemon/luns/device_scan.h"

#include <atomic>
#include <future>
#include <memory>

#include <gmock/gmock.h>

#include "tests/unit/cvm/lun_files.h"

namespace symnas::vnfsd::daemon {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kLookMs = 50;
constexpr std::int64_t kLongMs = 60'000;

class DeviceScanTest : public ::testing::Test {
 protected:
  // A look at a file whose name begins with "hang" takes until let_go(), at a "sound" one no time.
  DeviceScan::Look look() {
    return [go = gone_, asked = asked_](const cvm::LunNode& node) {
      ++*asked;
      if (node.path.find("/hang") != std::string::npos) go.wait();
      if (node.path.find("/sound") != std::string::npos)
        return cvm::SurveyedDevice{.path = node.path, .content = cvm::Content::kNothing};
      return cvm::survey_device(node);
    };
  }
  void let_go() { let_go_.set_value(); }
  std::vector<cvm::SurveyedDevice> scan(DeviceScan& scan, std::vector<std::string> patterns,
                                        DeviceScan::Asked asked = DeviceScan::Asked::kNamed) {
    auto seen = scan.scan(patterns, asked);
    EXPECT_TRUE(seen) << seen.error().message;
    return seen.value_or(std::vector<cvm::SurveyedDevice>());
  }

  cvm::LunFiles files;

 private:
  std::promise<void> let_go_;
  const std::shared_future<void> gone_ = let_go_.get_future().share();

 protected:
  // Shared with threads that may outlive the test.
  const std::shared_ptr<std::atomic<int>> asked_ = std::make_shared<std::atomic<int>>(0);
};

TEST_F(DeviceScanTest, EachDeviceOnceByItsPath) {
  files.make("b");
  files.make("a");
  std::filesystem::create_symlink(files.path("b"), files.path("c"));
  DeviceScan scanner(look(), kLongMs);
  const auto seen = scan(scanner, {files.directory(), files.path("b")});
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].path, files.path("a"));
  EXPECT_EQ(seen[1].path, files.path("b"));
  EXPECT_EQ(seen[1].content, cvm::Content::kNothing) << seen[1].what;
  EXPECT_EQ(asked_->load(), 2);
}

TEST_F(DeviceScanTest, WhatIsNotThereIsToldToWhomItWasNamedBy) {
  DeviceScan scanner;
  const auto named = scan(scanner, {files.path("none")});
  ASSERT_EQ(named.size(), 1u);
  EXPECT_EQ(named[0].content, cvm::Content::kNoMedium);
  EXPECT_TRUE(scan(scanner, {files.path("none")}, DeviceScan::Asked::kConfigured).empty());
}

TEST_F(DeviceScanTest, WhatHangsIsLeftBehindAndNotAskedAgain) {
  files.make("hang1");
  files.make("sound");
  DeviceScan scanner(look(), kLookMs);
  for (const char* why : {"has not answered", "it hangs"}) {
    const auto seen = scan(scanner, {files.directory()});
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].content, cvm::Content::kUnreadable);
    EXPECT_THAT(seen[0].what, HasSubstr(why));
    EXPECT_EQ(seen[1].content, cvm::Content::kNothing) << seen[1].what;
  }
  EXPECT_EQ(asked_->load(), 3);  // the one that hangs once
  let_go();
}

TEST_F(DeviceScanTest, OnlySoManyHang) {
  for (std::size_t i = 0; i < kHangingLooksMax + 2; ++i)
    files.make("hang" + std::to_string(10 + i));
  DeviceScan scanner(look(), 1);
  const auto seen = scan(scanner, {files.path("hang*")});
  ASSERT_EQ(seen.size(), kHangingLooksMax + 2);
  EXPECT_THAT(seen[kHangingLooksMax - 1].what, HasSubstr("has not answered"));
  // The directory could not be listed either, had it been asked for now.
  EXPECT_THAT(seen.back().what, HasSubstr("others hang"));
  const auto again = scanner.scan({files.path("hang*")}, DeviceScan::Asked::kNamed);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kBusy);
  let_go();
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

#include "vnfsd/daemon/health/lun_health.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "vnfsd/daemon/health/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr const char* kUuid = "00000000-0000-4000-8000-000000000001";

class LunCanariesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path) << std::string(kLunReadBytes, 'x');
    canaries.follow({{"LUN0", kUuid, path, 0, 0}}, {kUuid});
  }
  void TearDown() override { std::filesystem::remove(path); }
  // Waits for longer than errors alone have to last.
  bool is_ill_soon() {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(kFailsMs + 10 * kTryMs);
    while (canaries.ill().empty() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return canaries.ill().contains(kUuid);
  }

  const std::string path = testing::TempDir() + "lun_health_test";
  LunCanaries canaries{[] {}};
};

TEST_F(LunCanariesTest, OneThatHasGoneFromThisHeadIsIll) {
  canaries.follow({}, {kUuid});
  ASSERT_TRUE(is_ill_soon());
  EXPECT_NE(canaries.ill().at(kUuid).find("no device"), std::string::npos);
  EXPECT_TRUE(canaries.worse().empty());
  canaries.follow({{"LUN0", kUuid, path, 0, 0}}, {kUuid});
  EXPECT_TRUE(canaries.ill().contains(kUuid)) << "it is on trial wherever it is found";
}

TEST_F(LunCanariesTest, ReadsAreCounted) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const auto answered = [&] {
    std::uint64_t sum = 0;
    for (const LunReads& reads : canaries.reads())
      for (const std::uint64_t count : reads.seconds.counts()) sum += count;
    return sum;
  };
  while (answered() == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_EQ(canaries.reads().size(), 1u);
  EXPECT_EQ(canaries.reads()[0].name, "LUN0");
  EXPECT_GT(answered(), 0u);
  EXPECT_EQ(canaries.reads()[0].errors, 0u);
}

TEST_F(LunCanariesTest, OneThatIsNoneOfTheClusterIsForgotten) {
  canaries.follow({}, {});
  canaries.follow({}, {kUuid});
  std::this_thread::sleep_for(std::chrono::milliseconds(kFailsMs + 2 * kTryMs));
  EXPECT_TRUE(canaries.ill().empty()) << "nor is one that was never here";
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

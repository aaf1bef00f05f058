#include "fsal_cluster/mount/file_count.h"

#include <gtest/gtest.h>

#include "fsal_cluster/ops/unlink.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

class FileCountTest : public testing::Test {
 protected:
  std::uint64_t used() {
    FileCount count(world.session(), clock, quota, world.fs());
    const auto use = count.use();
    EXPECT_TRUE(use);
    return use ? use->used : 0;
  }
  World world;
  kv::QuotaGauge quota{0};
  const env::Clock& clock = env::system_clock();
};

TEST_F(FileCountTest, CountsEveryInode) {
  EXPECT_EQ(used(), 1u) << "the root";
  world.mkdir(world.root(), "d");
  world.create(world.root(), "f");
  world.symlink(world.root(), "s");
  EXPECT_EQ(used(), 4u);
  ASSERT_TRUE(unlink(world.context(), kRoot, world.root(), "f"));
  EXPECT_EQ(used(), 3u);
}

TEST_F(FileCountTest, ACountStandsForAWhileAndThenFollows) {
  FileCount count(world.session(), clock, quota, world.fs());
  ASSERT_TRUE(count.use());
  world.create(world.root(), "f");
  // The store here answers within microseconds, so a count is old soon.
  while (count.use()->used != 2u) {
  }
}

TEST_F(FileCountTest, AfterStopThereIsNoAnswer) {
  FileCount count(world.session(), clock, quota, world.fs());
  count.stop();
  EXPECT_EQ(count.use().error().code, ErrorCode::kShutdown);
  count.stop();
}

}  // namespace
}  // namespace symnas::fs

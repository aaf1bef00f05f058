#include "vnfsd/daemon/monitor/instance_reader.h"

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/monitor/process_sight.h"

namespace symnas::vnfsd::daemon {
namespace {

class InstanceReaderTest : public HeadWorld {
 protected:
  InstanceReaderTest() { instances.all["vnfs1"].pid = 7; }
  FakeInstances instances;
  bool silent = false;
  std::stop_source end;
  InstanceReader reading{
      head, instances,
      [this](const std::string&, int pid) -> Result<InstanceReader::Said> {
        if (silent) return fail(ErrorCode::kUnavailable, "hangs");
        return InstanceReader::Said{.cached_inodes = static_cast<std::uint64_t>(pid)};
      },
      end.get_token()};
};

TEST_F(InstanceReaderTest, ReadsThoseThatRun) {
  instances.all["vnfs2"].pid = 0;
  reading.look();
  const auto said = reading.said();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said.at("vnfs1").cached_inodes, 7u);
}

TEST_F(InstanceReaderTest, OneThatHangsKeepsWhatItSaidWhichBecomesOld) {
  reading.look();
  silent = true;
  pass_ms(5'000);
  reading.look();
  EXPECT_EQ(reading.said().at("vnfs1").age_s, 5);
  instances.all["vnfs1"].pid = 8;
  reading.look();
  EXPECT_TRUE(reading.said().empty()) << "another process has said nothing yet";
}

TEST(ProcessSight, IsThisProcess) {
  const auto sight = look_at_process();
  ASSERT_TRUE(sight);
  EXPECT_GT(sight->resident_bytes, 1'000'000);
  EXPECT_GE(sight->threads, 1);
  EXPECT_GT(sight->open_fds, 2);
  EXPECT_GT(sight->started_s, 1e9);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

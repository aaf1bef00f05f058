// What instances are told of the time, and when a wrong clock is told of.
#include "vnfsd/daemon/detection/clock_keeper.h"

#include <filesystem>

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/detection/limits.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/instance_file.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr std::int64_t kS = 1'000'000'000;

class ClockKeeperTest : public HeadWorld {
 protected:
  void SetUp() override { ASSERT_TRUE(instance::make_directories(head.config.daemon.run_dir)); }
  void TearDown() override { std::filesystem::remove_all(head.config.daemon.run_dir); }
  void look(const std::optional<ha::ClockSpread::Sight>& sight) {
    pass_ms(ha::kClockSayMs);
    keeper.look(sight);
    write_told();
  }
  static ha::ClockSpread::Sight ahead(std::int64_t base_ns, std::int64_t own_ahead_ns) {
    return {base_ns, own_ahead_ns, {{"c1n1", 0}}};
  }
  std::string told() {
    const auto text = instance::read_file(instance::clock_file(head.config));
    return text ? text->substr(0, text->find(' ')) : "";
  }
  ClockKeeper keeper{head, event_writer};
};

TEST_F(ClockKeeperTest, InstancesAreToldWhatMostHeadsSay) {
  look(std::nullopt);
  EXPECT_EQ(told(), "");
  look(ahead(5 * kS, 0));
  EXPECT_EQ(told(), "5000000000");
  look(ahead(5 * kS + kClockStepNs - 1, 0));
  EXPECT_EQ(told(), "5000000000");  // it hardly differs
  look(ahead(7 * kS, 0));
  EXPECT_EQ(told(), "7000000000");
}

TEST_F(ClockKeeperTest, AHeadThatIsAloneForLongGoesByItsOwn) {
  look(ahead(-3600 * kS, 3600 * kS));
  look(std::nullopt);
  EXPECT_EQ(told(), "-3600000000000");
  pass_ms(kClockAloneMs);
  look(std::nullopt);
  EXPECT_EQ(told(), "0");  // both clocks of the test are one
}

TEST_F(ClockKeeperTest, AWrongClockIsToldOfOnceUntilItIsNear) {
  look(ahead(0, kClockOffNs));
  EXPECT_EQ(event_text(event::kClockOff), "");
  look(ahead(0, 3600 * kS));
  EXPECT_NE(event_text(event::kClockOff).find("3600.0 s ahead of the others'"), std::string::npos);
  look(ahead(0, kClockBackNs));
  EXPECT_EQ(event_text(event::kClockBack), "");
  look(ahead(0, kClockBackNs - 1));
  EXPECT_NE(event_text(event::kClockBack).find("is with the others'"), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

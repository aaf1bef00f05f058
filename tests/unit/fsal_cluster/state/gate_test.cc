#include "fsal_cluster/state/gate.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "common/base/instance_counters.h"

namespace symnas::fs {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kWindow = 8 * kSecond;

class GateTest : public testing::Test {
 protected:
  void pass(Gate& gate) {
    gate.pass([this](Gate::Passage passage) { passed.push_back(passage); });
  }

  env::ManualClock clock{100 * kSecond};
  std::vector<Gate::Passage> passed;
};

TEST_F(GateTest, IsOpenForTheWindowAfterAProof) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  clock.advance_ns(kWindow - 1);
  EXPECT_TRUE(gate.is_open());
  pass(gate);
  EXPECT_EQ(passed.size(), 1u);
  clock.advance_ns(1);
  EXPECT_FALSE(gate.is_open());
  pass(gate);
  EXPECT_EQ(passed.size(), 1u) << "held";
  EXPECT_EQ(gate.held(), 1u);
}

TEST_F(GateTest, AProofCountsFromItsSendingAndNeverBackwards) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  const std::int64_t early_ns = clock.mono_ns() + kSecond;
  clock.advance_ns(6 * kSecond);
  gate.prove(clock.mono_ns());
  gate.prove(early_ns);
  clock.advance_ns(kWindow - 1);
  EXPECT_TRUE(gate.is_open());
  clock.advance_ns(1);
  EXPECT_FALSE(gate.is_open());
}

TEST_F(GateTest, AProofThatIsTooOldOpensNothing) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  const std::int64_t sent_ns = clock.mono_ns() + kSecond;
  clock.advance_ns(60 * kSecond);
  pass(gate);
  gate.prove(sent_ns);
  EXPECT_TRUE(passed.empty()) << "the answer came after 59 s";
  gate.prove(clock.mono_ns());
  EXPECT_EQ(passed, std::vector{Gate::Passage::kOpen});
  EXPECT_EQ(gate.held(), 0u);
}

TEST_F(GateTest, ClosingsAreCountedWhenItOpensAgain) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  const std::uint64_t before = instance_counters().gate_closings;
  gate.prove(clock.mono_ns());
  EXPECT_EQ(instance_counters().gate_closings, before);
  clock.advance_ns(kWindow);
  gate.prove(clock.mono_ns() - kWindow);
  EXPECT_EQ(instance_counters().gate_closings, before) << "still closed";
  gate.prove(clock.mono_ns());
  gate.prove(clock.mono_ns());
  EXPECT_EQ(instance_counters().gate_closings, before + 1);
}

TEST_F(GateTest, TellsForHowLongItHasBeenOpen) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  clock.advance_ns(6 * kSecond);
  gate.prove(clock.mono_ns());
  clock.advance_ns(6 * kSecond);
  EXPECT_EQ(gate.open_for_ns(), 12 * kSecond);
  clock.advance_ns(2 * kSecond);
  EXPECT_EQ(gate.open_for_ns(), std::nullopt);
  clock.advance_ns(10 * kSecond);
  gate.prove(clock.mono_ns() - 2 * kSecond);
  EXPECT_EQ(gate.open_for_ns(), 0) << "from when it opened, not from its proof";
  clock.advance_ns(5 * kSecond);
  EXPECT_EQ(gate.open_for_ns(), 5 * kSecond);
}

TEST_F(GateTest, ShutDownLetsEverythingGoAndSaysSo) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  clock.advance_ns(kWindow);
  pass(gate);
  std::thread blocked([&] { EXPECT_EQ(gate.wait(), Gate::Passage::kShutDown); });
  while (gate.held() < 2) std::this_thread::yield();
  gate.shut_down();
  blocked.join();
  pass(gate);
  EXPECT_EQ(passed, (std::vector{Gate::Passage::kShutDown, Gate::Passage::kShutDown}));
}

TEST_F(GateTest, AWaitingCallerGoesOnWithTheProof) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  clock.advance_ns(kWindow);
  std::thread blocked([&] { EXPECT_EQ(gate.wait(), Gate::Passage::kOpen); });
  while (gate.held() < 1) std::this_thread::yield();
  gate.prove(clock.mono_ns());
  blocked.join();
}

}  // namespace
}  // namespace symnas::fs

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
  // An answer to a request that has come just now.
  void answer(Gate& gate) {
    gate.answer(clock.mono_ns(), [this](Gate::Passage passage) { passed.push_back(passage); });
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

TEST_F(GateTest, AnswersGoForAWhileAfterASignThatEverybodySees) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  clock.advance_ns(kLifeWindowNs - 1);
  answer(gate);
  EXPECT_EQ(passed.size(), 1u) << "the claim was one";
  clock.advance_ns(1);
  answer(gate);
  EXPECT_EQ(passed.size(), 1u) << "held";
  EXPECT_TRUE(gate.is_open());
  EXPECT_TRUE(gate.holds_answers());
  gate.confirm(clock.mono_ns(), Gate::Seen::kByEverybody);
  EXPECT_EQ(passed.size(), 2u);
  EXPECT_FALSE(gate.holds_answers());
  clock.advance_ns(kLifeWindowNs - 1);
  answer(gate);
  EXPECT_EQ(passed.size(), 3u);
}

TEST_F(GateTest, ASignCountsFromItsSending) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  clock.advance_ns(kSecond);
  const std::int64_t sent_ns = clock.mono_ns();
  clock.advance_ns(kLifeWindowNs);
  answer(gate);
  gate.confirm(sent_ns, Gate::Seen::kByEverybody);
  EXPECT_TRUE(passed.empty()) << "the answer of etcd came too late";
}

// Whoever ends the mount cannot know of it: it counts for requests that were there already.
TEST_F(GateTest, ASignThatNobodySeesLetsOnlyOlderRequestsGo) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  clock.advance_ns(kSecond);
  answer(gate);
  clock.advance_ns(1);
  const std::int64_t begun_ns = clock.mono_ns();
  clock.advance_ns(1);
  answer(gate);
  gate.confirm(begun_ns, Gate::Seen::kByUs);
  EXPECT_EQ(passed.size(), 1u);
  EXPECT_EQ(gate.held(), 1u);
  clock.advance_ns(1);
  EXPECT_FALSE(gate.may_answer(clock.mono_ns()));
  EXPECT_TRUE(gate.may_answer(begun_ns)) << "its own I/O was the sign";
}

TEST_F(GateTest, ALateSignLetsThoseGoThatWereThereBeforeIt) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  clock.advance_ns(kSecond);
  answer(gate);
  const std::int64_t sent_ns = clock.mono_ns();
  clock.advance_ns(2 * kLifeWindowNs);
  gate.confirm(sent_ns, Gate::Seen::kByEverybody);
  EXPECT_EQ(passed.size(), 1u) << "etcd is slow, and clients are served all the same";
}

TEST_F(GateTest, WantsTheNextSignBeforeTheLastOneIsTooOld) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  int woken = 0;
  gate.on_wanted([&] { ++woken; });
  clock.advance_ns(kLifeRenewNs - 1);
  answer(gate);
  EXPECT_EQ(woken, 0);
  clock.advance_ns(1);
  answer(gate);
  answer(gate);
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(gate.is_wanted());
  EXPECT_EQ(passed.size(), 3u) << "nobody waits for it";
  gate.confirm(clock.mono_ns(), Gate::Seen::kByUs);
  EXPECT_TRUE(gate.is_wanted()) << "nobody else has seen that";
  gate.confirm(clock.mono_ns(), Gate::Seen::kByEverybody);
  EXPECT_FALSE(gate.is_wanted());
  clock.advance_ns(kLifeWindowNs);
  answer(gate);
  EXPECT_EQ(woken, 2);
  gate.on_wanted({});
}

TEST_F(GateTest, WhoStillWaitsAfterASignWantsAnotherOne) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  int woken = 0;
  gate.on_wanted([&] { ++woken; });
  const std::int64_t sent_ns = clock.mono_ns() + 1;
  clock.advance_ns(kSecond);
  answer(gate);
  gate.confirm(sent_ns, Gate::Seen::kByEverybody);
  EXPECT_EQ(woken, 2);
  EXPECT_TRUE(gate.is_wanted());
  gate.on_wanted({});
}

TEST_F(GateTest, AShutGateHoldsAnswersThatHaveASign) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  clock.advance_ns(kWindow);
  gate.confirm(clock.mono_ns(), Gate::Seen::kByEverybody);
  answer(gate);
  EXPECT_TRUE(passed.empty());
  gate.prove(clock.mono_ns());
  EXPECT_EQ(passed.size(), 1u);
}

TEST_F(GateTest, ClosedForGoodNothingGoesAnyMore) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  gate.close();
  EXPECT_FALSE(gate.is_open());
  EXPECT_EQ(gate.open_until_ns(), 0) << "vnfsd removes the VIPs at once";
  pass(gate);
  answer(gate);
  gate.prove(clock.mono_ns());
  gate.confirm(clock.mono_ns(), Gate::Seen::kByEverybody);
  EXPECT_TRUE(passed.empty());
  EXPECT_EQ(gate.held(), 2u);
  gate.shut_down();
  EXPECT_EQ(passed, (std::vector{Gate::Passage::kShutDown, Gate::Passage::kShutDown}));
}

TEST_F(GateTest, AWaitingAnswerGoesOnWithTheSign) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  clock.advance_ns(kSecond);
  const std::int64_t began_ns = clock.mono_ns();
  std::thread blocked([&] {
    EXPECT_EQ(gate.wait_to_answer(began_ns), Gate::Passage::kOpen);
    EXPECT_TRUE(Gate::has_passed_here());
  });
  while (gate.held() < 1) std::this_thread::yield();
  EXPECT_TRUE(gate.is_wanted());
  gate.confirm(began_ns, Gate::Seen::kByUs);
  blocked.join();
}

TEST_F(GateTest, OnlyTheThreadsOwnAnswerHasPassedHere) {
  Gate gate(clock, clock.mono_ns(), kWindow);
  Gate::forget_passed();
  clock.advance_ns(kSecond);
  answer(gate);
  EXPECT_FALSE(Gate::has_passed_here());
  gate.confirm(clock.mono_ns(), Gate::Seen::kByUs);
  EXPECT_EQ(passed.size(), 1u);
  EXPECT_FALSE(Gate::has_passed_here()) << "it was an answer of somebody else that went";
  answer(gate);
  EXPECT_TRUE(Gate::has_passed_here());
  Gate::forget_passed();
  EXPECT_FALSE(Gate::has_passed_here());
}

}  // namespace
}  // namespace symnas::fs

// Each step against a LUN that other heads use at the same time, and with lost answers.
#include "ha/reservation/lun_steps.h"

#include <gtest/gtest.h>

#include "fake_array.h"
#include "temporary_directory.h"

namespace symnas::ha {
namespace {

constexpr ReservationKey kA(0xa), kB(0xb), kC(0xc);

class LunStepsTest : public ::testing::Test {
 protected:
  LunStepsTest() : array({"sda"}), journal(Journal::open(directory.path, kA).value()) {}
  FakeLun& lun() { return array.luns["sda"]; }
  void registered(const std::string& nexus, ReservationKey key) {
    lun().registers(nexus, key);
    lun().reserves(nexus, key);
  }
  Result<LunState> register_a() {
    return register_here(*array.open("sda", "a"), "sda", journal, kA);
  }
  Result<LunState> preempt(ReservationKey own = kB, ReservationKey victim = kA) {
    return preempt_here(*array.open("sda", "b"), "sda", own, victim);
  }

  TemporaryDirectory directory;
  FakeArray array;
  Journal journal;
};

TEST_F(LunStepsTest, RegistersAndReserves) {
  const auto seen = register_a();
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->did, "registered");
  EXPECT_TRUE(judge(*seen, kA, kB));
  EXPECT_EQ(register_a()->did, "present");
}

TEST_F(LunStepsTest, TheFirstOfTwoReservesForBoth) {
  registered("b", kB);
  const auto seen = register_a();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->reservation->holder, kB);
}

TEST_F(LunStepsTest, TakesThePlaceOfItsOwnOlderBoot) {
  registered("a", kC);
  const auto seen = register_a();
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_FALSE(seen->has(kC));
  EXPECT_EQ(seen->reservation->holder, kA);
}

TEST_F(LunStepsTest, DoesNotRegisterAgainAfterAFence) {
  ASSERT_TRUE(register_a());
  lun().registers("b", kB);
  ASSERT_TRUE(preempt());
  const auto again = register_a();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kPermission);
  EXPECT_FALSE(lun().has(kA));
}

TEST_F(LunStepsTest, DoesNotRegisterUnderAnotherName) {
  ASSERT_TRUE(register_a());
  lun().registers("b", kB);
  ASSERT_TRUE(preempt());
  auto renamed = Journal::open(directory.path, kC);
  ASSERT_TRUE(renamed);
  const auto again = register_here(*array.open("sda", "a"), "sda", *renamed, kC);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kPermission);
  EXPECT_NE(again.error().message.find("it has registered as 0x000000000000000a before"),
            std::string::npos)
      << again.error().message;
  EXPECT_FALSE(lun().has(kC));
}

TEST_F(LunStepsTest, ALostAnswerOfARegistrationThatHappenedDoesNoHarm) {
  array.faults["sda"] = Fault::kAnswerLost;
  const auto seen = register_a();
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(journal.of("naa.sda"), Enrolment::kDone);
}

// The attempt may be executed at any later time, even after a fence: so it is not made twice.
TEST_F(LunStepsTest, AnAttemptOfUnknownOutcomeIsNotRepeated) {
  array.faults["sda"] = Fault::kNotExecuted;
  EXPECT_EQ(register_a().error().code, ErrorCode::kUnknownOutcome);
  array.faults["sda"] = Fault::kNone;
  EXPECT_EQ(register_a().error().code, ErrorCode::kPermission);
  lun().registers("a", kA);  // late
  EXPECT_TRUE(register_a());
}

TEST_F(LunStepsTest, ARefusalByTheLunMayBeRepeated) {
  array.faults["sda"] = Fault::kRefuses;
  EXPECT_EQ(register_a().error().code, ErrorCode::kUnavailable);
  array.faults["sda"] = Fault::kNone;
  EXPECT_TRUE(register_a());
}

TEST_F(LunStepsTest, RefusesALunThatCannotFence) {
  lun().can.survives_power_loss = false;
  EXPECT_EQ(register_a().error().code, ErrorCode::kNotSupported);
  lun().can = {.survives_power_loss = true, .knows_type = false};
  EXPECT_EQ(register_a().error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(array.changes, 0);
}

TEST_F(LunStepsTest, RefusesALunThatIsReservedInAnotherWay) {
  registered("x", kC);
  lun().reservation->type = 3;
  EXPECT_EQ(register_a().error().code, ErrorCode::kConflict);
  EXPECT_EQ(array.changes, 0);
}

TEST_F(LunStepsTest, PreemptsAndAborts) {
  registered("a", kA);
  lun().registers("a2", kA);  // its second path
  lun().registers("b", kB);
  const auto seen = preempt();
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->did, "preempted");
  EXPECT_EQ(lun().aborts, 1);
  EXPECT_TRUE(judge(*seen, kB, kA));
  EXPECT_EQ(seen->reservation->holder, kB);
}

// The head that removed the key may still wait for the commands it aborted, and does not tell us
// when they have ended.
TEST_F(LunStepsTest, AnAbsentKeyIsNoProofThatItsCommandsHaveEnded) {
  registered("b", kB);
  EXPECT_EQ(preempt()->did, "reset");
  EXPECT_EQ(lun().resets, 1);
  for (const Fault fault : {Fault::kNotExecuted, Fault::kAnswerLost, Fault::kRefuses}) {
    array.faults["sda"] = fault;
    EXPECT_EQ(preempt().error().code, ErrorCode::kUnavailable);
  }
}

TEST_F(LunStepsTest, AnotherFencerWasFaster) {
  registered("a", kA);
  lun().registers("b", kB);
  lun().registers("c", kC);
  array.meanwhile = [this](const std::string&) { lun().preempts("c", kC, kA); };
  const auto seen = preempt();
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->did, "reset");
}

TEST_F(LunStepsTest, WhoIsFencedItselfFencesNobody) {
  registered("a", kA);
  EXPECT_EQ(preempt().error().code, ErrorCode::kFenced);
  EXPECT_EQ(array.changes, 0);
  lun().registers("b", kB);
  array.meanwhile = [this](const std::string&) { lun().preempts("a", kA, kB); };
  EXPECT_EQ(preempt().error().code, ErrorCode::kFenced);
  EXPECT_TRUE(lun().has(kA));
}

// The key is gone, but nobody has reported whether its commands have ended.
TEST_F(LunStepsTest, ALostAnswerOfAPreemptionThatHappenedIsNoProof) {
  registered("a", kA);
  lun().registers("b", kB);
  array.faults["sda"] = Fault::kAnswerLost;
  EXPECT_EQ(preempt().error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(lun().has(kA));
  array.faults["sda"] = Fault::kNone;
  EXPECT_EQ(preempt()->did, "reset");
  EXPECT_EQ(lun().aborts, 1);
}

// The first attempt is lost, the second is executed: it aborts the commands that exist then.
TEST_F(LunStepsTest, TheLastPreemptionCounts) {
  registered("b", kB);
  lun().registers("a", kA);
  array.faults["sda"] = Fault::kNotExecuted;
  array.meanwhile = [this](const std::string&) {
    if (array.changes == 1) array.faults["sda"] = Fault::kNone;
  };
  EXPECT_EQ(preempt()->did, "preempted");
  EXPECT_EQ(lun().resets, 0);
}

TEST_F(LunStepsTest, APreemptionThatDoesNotHappenIsNone) {
  registered("a", kA);
  lun().registers("b", kB);
  array.faults["sda"] = Fault::kNotExecuted;
  EXPECT_FALSE(preempt());
  array.faults["sda"] = Fault::kRefuses;
  EXPECT_FALSE(preempt());
}

TEST_F(LunStepsTest, AVictimThatComesBackAtOnceIsAConflict) {
  registered("b", kB);
  lun().registers("a", kA);
  array.afterwards = [this](const std::string&) { lun().registers("a", kA); };
  const auto seen = preempt();
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, ErrorCode::kConflict);
}

TEST_F(LunStepsTest, AFenceRightAfterTheRegistrationIsSeen) {
  registered("b", kB);
  array.afterwards = [this](const std::string&) { lun().preempts("b", kB, kA); };
  EXPECT_EQ(register_a().error().code, ErrorCode::kPermission);
  array.afterwards = [](const std::string&) {};
  EXPECT_EQ(register_a().error().code, ErrorCode::kPermission);
}

// A registrants-only reservation ends when its holder unregisters.
TEST_F(LunStepsTest, WithoutAReservationTheFencerReservesFirst) {
  lun().registers("a", kA);
  lun().registers("b", kB);
  const auto seen = preempt();
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->reservation->holder, kB);
}

TEST_F(LunStepsTest, UnregistersOnlyWhatDoesNotOpenTheLun) {
  ASSERT_TRUE(register_a());
  const auto device = array.open("sda", "a");
  EXPECT_EQ(unregister_here(*device, "sda", journal, kA, Last::kRefuse).error().code,
            ErrorCode::kBusy);
  lun().registers("b", kB);  // a still holds the reservation
  EXPECT_EQ(unregister_here(*device, "sda", journal, kA, Last::kAllow).error().code,
            ErrorCode::kBusy);
  lun().reservation->holder = kB;
  lun().holder = "b";
  const auto seen = unregister_here(*device, "sda", journal, kA, Last::kRefuse);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->did, "unregistered");
  EXPECT_EQ(register_a().error().code, ErrorCode::kPermission);
}

TEST_F(LunStepsTest, JudgesWhatIsSeen) {
  LunState seen{.device = "sda", .identity = "naa.sda"};
  seen.registrations.keys = {kA, kB};
  EXPECT_EQ(judge(seen, kC, std::nullopt).error().code, ErrorCode::kFenced);
  EXPECT_EQ(judge(seen, kA, std::nullopt).error().code, ErrorCode::kConflict);  // not reserved
  seen.reservation = Reservation{kB, 5};
  EXPECT_EQ(judge(seen, kA, std::nullopt).error().code, ErrorCode::kConflict);
  seen.reservation = Reservation{kB, kExclusiveAccessRegistrantsOnly};
  EXPECT_TRUE(judge(seen, kA, std::nullopt));
  EXPECT_EQ(judge(seen, kA, kB).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(judge(seen, kA, kC));
}

// Keys and reservation from different moments do not show the state of the LUN.
TEST_F(LunStepsTest, LooksUntilNothingChangedInBetween) {
  struct Restless : Device {
    int changes_left = 2;
    std::uint32_t generation = 0;
    Result<std::string> identity() override { return "naa.1"; }
    Result<Registrations> registrations() override {
      return Registrations{changes_left > 0 ? generation++ : generation, {kA}};
    }
    Result<ReservationAnswer> reservation() override {
      if (changes_left > 0) --changes_left;
      return ReservationAnswer{generation, std::nullopt};
    }
    Result<Capabilities> capabilities() override { return Capabilities{}; }
    Change enroll(ReservationKey) override { return {}; }
    Change withdraw(ReservationKey) override { return {}; }
    Change reserve(ReservationKey) override { return {}; }
    Change preempt_and_abort(ReservationKey, ReservationKey) override { return {}; }
    Change reset() override { return {}; }
  };
  Restless device;
  const auto seen = look(device, "sda");
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->registrations.generation, 2u);
  device.changes_left = 1000;
  EXPECT_EQ(look(device, "sda").error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace symnas::ha

// Commands over several LUNs: nothing is done in part, and everything can be repeated.
#include "ha/reservation/commands.h"

#include <gtest/gtest.h>

#include "fake_array.h"
#include "temporary_directory.h"

namespace symnas::ha {
namespace {

constexpr ReservationKey kA(0xa), kB(0xb);
const std::vector<std::string> kDevices = {"sda", "sdb", "sdc"};

class CommandsTest : public ::testing::Test {
 protected:
  CommandsTest() : array(kDevices) {}
  ExitStatus run(Command command, const std::string& nexus, ReservationKey own,
                 std::optional<ReservationKey> victim = std::nullopt) {
    Request request;
    request.command = command;
    request.devices = kDevices;
    request.identities = identities;
    request.own = own;
    request.victim = victim;
    request.journal_directory = directory.path + "/" + nexus;
    report = run_command(request, array.reach(nexus));
    return exit_status_of(report.luns);
  }
  void both_register() {
    ASSERT_EQ(run(Command::kRegister, "a", kA), ExitStatus::kDone);
    ASSERT_EQ(run(Command::kRegister, "b", kB), ExitStatus::kDone);
    array.changes = 0;
  }
  std::string did() const {
    std::string all;
    for (const auto& lun : report.luns) all += (lun ? lun->did : "error") + " ";
    return all;
  }
  TemporaryDirectory directory;
  FakeArray array;
  std::map<std::string, std::string> identities;
  Report report;
};

TEST_F(CommandsTest, AHeadIsCutOffEverywhere) {
  both_register();
  EXPECT_EQ(run(Command::kVerify, "b", kB, kA), ExitStatus::kConflict);
  EXPECT_EQ(run(Command::kPreempt, "b", kB, kA), ExitStatus::kDone);
  EXPECT_EQ(did(), "preempted preempted preempted ");
  EXPECT_EQ(run(Command::kVerify, "b", kB, kA), ExitStatus::kDone);
  EXPECT_EQ(run(Command::kVerify, "a", kA), ExitStatus::kOwnKeyMissing);
  EXPECT_EQ(run(Command::kRegister, "a", kA), ExitStatus::kSecondTime);
}

TEST_F(CommandsTest, WhatWasInterruptedIsResumed) {
  both_register();
  array.luns["sda"].preempts("b", kB, kA);
  EXPECT_EQ(run(Command::kVerify, "b", kB, kA), ExitStatus::kConflict);
  EXPECT_EQ(run(Command::kPreempt, "b", kB, kA), ExitStatus::kDone);
  EXPECT_EQ(did(), "reset preempted preempted ");
}

TEST_F(CommandsTest, WhoReachesOnlySomeCutsNobodyOff) {
  both_register();
  array.faults["sdc"] = Fault::kUnreachable;
  EXPECT_EQ(run(Command::kPreempt, "b", kB, kA), ExitStatus::kNotDone);
  EXPECT_EQ(array.changes, 0);
  EXPECT_TRUE(array.luns["sda"].has(kA));
}

TEST_F(CommandsTest, OneLunWithoutProofIsNoProof) {
  both_register();
  array.faults["sdb"] = Fault::kNotExecuted;
  EXPECT_NE(run(Command::kPreempt, "b", kB, kA), ExitStatus::kDone);
  array.faults["sdb"] = Fault::kNone;
  EXPECT_EQ(run(Command::kPreempt, "b", kB, kA), ExitStatus::kDone);
  EXPECT_EQ(did(), "reset preempted reset ");
}

TEST_F(CommandsTest, OurKeyMissingAnywhereStopsEverything) {
  both_register();
  array.luns["sdc"].preempts("a", kA, kB);
  EXPECT_EQ(run(Command::kPreempt, "b", kB, kA), ExitStatus::kOwnKeyMissing);
  EXPECT_EQ(array.changes, 0);
}

// The victim registers again on a LUN that was done, before the last LUN is done.
TEST_F(CommandsTest, ProofIsALookAfterTheLastLun) {
  both_register();
  array.afterwards = [this](const std::string& device) {
    if (device == "sdc") array.luns["sda"].registers("a", kA);
  };
  EXPECT_EQ(run(Command::kPreempt, "b", kB, kA), ExitStatus::kConflict);
}

TEST_F(CommandsTest, RegistersNowhereIfItMayNotSomewhere) {
  ASSERT_EQ(run(Command::kRegister, "a", kA), ExitStatus::kDone);
  array.luns["sdb"].can.survives_power_loss = false;
  array.changes = 0;
  EXPECT_EQ(run(Command::kRegister, "b", kB), ExitStatus::kNotDone);
  EXPECT_EQ(array.changes, 0);
}

TEST_F(CommandsTest, ARegistrationThatWasInterruptedGoesOn) {
  array.faults["sdc"] = Fault::kRefuses;
  EXPECT_EQ(run(Command::kRegister, "a", kA), ExitStatus::kNotDone);
  EXPECT_TRUE(array.luns["sda"].has(kA));
  array.faults["sdc"] = Fault::kNone;
  EXPECT_EQ(run(Command::kRegister, "a", kA), ExitStatus::kDone);
  EXPECT_EQ(did(), "present present registered ");
}

// A boot was fenced while its registration was half done: it must not complete it.
TEST_F(CommandsTest, AHalfRegistrationThatWasFencedStaysFenced) {
  array.faults["sdc"] = Fault::kRefuses;
  EXPECT_EQ(run(Command::kRegister, "a", kA), ExitStatus::kNotDone);
  array.faults["sdc"] = Fault::kNone;
  ASSERT_EQ(run(Command::kRegister, "b", kB), ExitStatus::kDone);
  ASSERT_EQ(run(Command::kPreempt, "b", kB, kA), ExitStatus::kDone);
  EXPECT_EQ(run(Command::kRegister, "a", kA), ExitStatus::kSecondTime);
  EXPECT_FALSE(array.luns["sdc"].has(kA));
}

TEST_F(CommandsTest, TwoPathsAreNotTwoLuns) {
  array.luns["sdb"].identity = array.luns["sda"].identity;
  EXPECT_EQ(run(Command::kRegister, "a", kA), ExitStatus::kNotDone);
  EXPECT_EQ(array.changes, 0);
  EXPECT_NE(report.luns[1].error().message.find("multipath"), std::string::npos);
}

TEST_F(CommandsTest, GivesNothingBackIfALunWouldBeOpenThen) {
  both_register();  // a holds every reservation
  array.luns["sdc"].holder = "b";
  array.luns["sdc"].reservation->holder = kB;
  EXPECT_EQ(run(Command::kUnregister, "a", kA), ExitStatus::kConflict);
  EXPECT_EQ(array.changes, 0);
  EXPECT_EQ(run(Command::kPreempt, "b", kB, kA), ExitStatus::kDone);
  EXPECT_EQ(run(Command::kUnregister, "a", kA), ExitStatus::kDone);
  EXPECT_EQ(did(), "absent absent absent ");
}

// The array has lost its registrations: nobody is kept out, so nothing is proven.
TEST_F(CommandsTest, ALunThatForgotItsKeysProvesNothing) {
  both_register();
  array.luns["sdb"].registered.clear();
  array.luns["sdb"].reservation.reset();
  EXPECT_EQ(run(Command::kVerify, "b", kB, kA), ExitStatus::kOwnKeyMissing);
  EXPECT_EQ(run(Command::kPreempt, "b", kB, kA), ExitStatus::kOwnKeyMissing);
}

// A node has become another disk since its LUN was looked up.
TEST_F(CommandsTest, NothingIsSentToAnotherLunThanTheOneThatIsMeant) {
  identities = {{"sda", "naa.sda"}, {"sdb", "naa.other"}};
  for (const Command command : {Command::kRegister, Command::kUnregister}) {
    EXPECT_EQ(run(command, "a", kA), ExitStatus::kNotDone);
    EXPECT_EQ(array.changes, 0);
  }
  EXPECT_EQ(report.luns[1].error().message, "sdb: is naa.sdb, not naa.other");
  identities.clear();
  both_register();
  identities = {{"sdc", "naa.other"}};
  EXPECT_EQ(run(Command::kPreempt, "b", kB, kA), ExitStatus::kNotDone);
  EXPECT_EQ(array.changes, 0);
  identities = {{"sdc", "naa.sdc"}};
  EXPECT_EQ(run(Command::kPreempt, "b", kB, kA), ExitStatus::kDone);
}

TEST_F(CommandsTest, KeysSaysWhoCannotFence) {
  array.luns["sdb"].can.survives_power_loss = false;
  ASSERT_EQ(run(Command::kKeys, "x", ReservationKey()), ExitStatus::kDone);
  EXPECT_EQ(report.luns[0]->can, (Capabilities{true, true}));
  EXPECT_EQ(report.luns[1]->can, (Capabilities{false, true}));
}

TEST_F(CommandsTest, KeysAreShownWhateverTheyAre) {
  EXPECT_EQ(run(Command::kKeys, "x", ReservationKey()), ExitStatus::kDone);
  array.faults["sda"] = Fault::kUnreachable;
  EXPECT_EQ(run(Command::kKeys, "x", ReservationKey()), ExitStatus::kNotDone);
  EXPECT_TRUE(report.luns[1]);
}

}  // namespace
}  // namespace symnas::ha

// How vnfsd calls symnas-fence, with shell scripts in its place: what counts as a proof, and what
// does not.
#include "ha/fencing/reservation_program.h"

#include <fmt/core.h>

#include "ha/reservation/key.h"
#include "tests/unit/ha/fencing/script.h"

namespace symnas::ha {
namespace {

const std::string kOwn = "c1n1/4f1e2d3c-0000-4000-8000-000000000001";
const std::string kVictim = "c1n2/4f1e2d3c-0000-4000-8000-000000000002";
const std::vector<NamedLun> kLuns = {{"naa.1", "/dev/a"}, {"naa.2", "/dev/b"}};

std::string key(const std::string& incarnation) { return render_key(key_of(incarnation)); }

class ReservationProgramTest : public ScriptTest {
 protected:
  ReservationProgram tool() const { return {program, "/run/journal", 2'000}; }
  // One LUN of an answer.
  static std::string lun(const std::string& device, const std::string& identification,
                         const std::string& keys, int type = 6,
                         const std::string& did = "preempted") {
    return fmt::format(
        R"({{"device":"{}","lun":"{}","did":"{}","generation":7,"keys":[{}],"holder":"0x1","type":{}}})",
        device, identification, did, keys, type);
  }
  static std::string answer(const std::string& command, const std::string& luns,
                            const std::string& verdict = "done") {
    return fmt::format(R"({{"command":"{}","verdict":"{}","own":"{}","victim":"{}","luns":[{}]}})",
                       command, verdict, key(kOwn), key(kVictim), luns);
  }
  void says(const std::string& text, int status) {
    script(fmt::format("echo '{}'; exit {}", text, status));
  }
  std::string own_only() const { return "\"" + key(kOwn) + "\""; }
  std::string both() const { return own_only() + ",\"" + key(kVictim) + "\""; }
  std::string two(const std::string& keys) const {
    return lun("/dev/a", "naa.1", keys) + "," + lun("/dev/b", "naa.2", keys);
  }
  ErrorCode preempted() const {
    const auto proof = preempt_boot(tool(), kOwn, kVictim, kLuns);
    EXPECT_FALSE(proof) << *proof;
    return proof ? ErrorCode::kInternal : proof.error().code;
  }
};

TEST_F(ReservationProgramTest, AVerifiedPreemptionIsTheProof) {
  says(answer("preempt", two(own_only())), 0);
  const auto proof = preempt_boot(tool(), kOwn, kVictim, kLuns);
  ASSERT_TRUE(proof) << proof.error().message;
  EXPECT_EQ(*proof, "reservations: key " + key(kVictim) + " of " + kVictim +
                        " preempted and absent on 2 LUNs: naa.1 naa.2");
  EXPECT_EQ(arguments(), "-o\njson\n--timeout-ms\n500\npreempt\n--own\n" + kOwn + "\n--victim\n" +
                             kVictim + "\n--abort-timeout-ms\n500\n/dev/a=naa.1\n/dev/b=naa.2\n");
}

// A LUN that hangs is given up soon; an abort may take all the time that is left.
TEST_F(ReservationProgramTest, AnAbortMayTakeWhatIsLeft) {
  says(answer("preempt", two(own_only())), 0);
  ReservationProgram patient = tool();
  patient.timeout_ms = 60'000;
  ASSERT_TRUE(preempt_boot(patient, kOwn, kVictim, kLuns));
  EXPECT_NE(arguments().find("--timeout-ms\n5000\n"), std::string::npos);
  EXPECT_NE(arguments().find("--abort-timeout-ms\n45000\n"), std::string::npos);
}

TEST_F(ReservationProgramTest, AResetIsAProofToo) {
  says(answer("preempt", lun("/dev/a", "naa.1", own_only(), 6, "reset") + "," +
                             lun("/dev/b", "naa.2", own_only())),
       0);
  EXPECT_TRUE(preempt_boot(tool(), kOwn, kVictim, kLuns));
}

TEST_F(ReservationProgramTest, EveryOtherStatusProvesNothing) {
  const std::string failed =
      R"({"device":"/dev/a","error":"/dev/a: no answer"},)" + lun("/dev/b", "naa.2", own_only());
  const std::vector<std::pair<int, ErrorCode>> statuses = {
      {1, ErrorCode::kUnavailable},  {2, ErrorCode::kUnavailable}, {3, ErrorCode::kPermission},
      {4, ErrorCode::kPermission},   {5, ErrorCode::kConflict},    {6, ErrorCode::kUnavailable},
      {127, ErrorCode::kUnavailable}};
  for (const auto& [status, code] : statuses) {
    says(answer("preempt", failed, "not_done"), status);
    EXPECT_EQ(preempted(), code) << status;
    // Whatever the answer says in addition.
    says(answer("preempt", two(own_only())), status);
    EXPECT_EQ(preempted(), code) << status;
  }
}

TEST_F(ReservationProgramTest, ThePersonIsToldWhichLun) {
  says(answer("preempt",
              R"({"device":"/dev/a","error":"/dev/a: no answer"},)" +
                  lun("/dev/b", "naa.2", own_only()),
              "not_done"),
       1);
  const auto proof = preempt_boot(tool(), kOwn, kVictim, kLuns);
  ASSERT_FALSE(proof);
  EXPECT_EQ(proof.error().message, "reservations: not done on every LUN (/dev/a: no answer)");
}

TEST_F(ReservationProgramTest, ASuccessThatShowsSomethingElseProvesNothing) {
  const std::string a = lun("/dev/a", "naa.1", own_only());
  const std::vector<std::string> lies = {
      "",
      "done",
      "{}",
      "[]",
      R"({"command":"preempt"})",
      answer("preempt", ""),                                            // about no LUN
      answer("preempt", a),                                             // about one of two
      answer("preempt", two(own_only()) + "," + a),                     // about more
      answer("preempt", lun("/dev/b", "naa.2", own_only()) + "," + a),  // in another order
      answer("preempt", a + "," + lun("/dev/b", "naa.3", own_only())),  // another LUN is there now
      answer("preempt", two(both())),                                   // the victim's key is there
      answer("preempt", two("\"" + key(kVictim) + "\"")),
      answer("preempt", two("")),  // ours is not
      answer("preempt", a + "," + lun("/dev/b", "naa.2", own_only(), 5)),
      // The key is gone, but nobody has seen that its commands have ended.
      answer("preempt", a + "," + lun("/dev/b", "naa.2", own_only(), 6, "absent")),
      answer("preempt", a + R"(,{"device":"/dev/b","error":"x"})"),
      answer("preempt", a + R"(,{"device":"/dev/b","lun":"naa.2","keys":[)" + own_only() + "]}"),
      answer("verify", two(own_only())),
      answer("preempt", two(own_only()), "not_done"),
      R"({"command":"preempt","verdict":"done","own":"0x1","victim":")" + key(kVictim) +
          R"(","luns":[)" + two(own_only()) + "]}",
      R"({"command":"preempt","verdict":"done","own":")" + key(kOwn) +
          R"(","victim":"0x1","luns":[)" + two(own_only()) + "]}",
      R"({"command":"preempt","verdict":"done","luns":7})",
      R"({"command":7,"verdict":[],"luns":[7,8]})",
  };
  for (const std::string& lie : lies) {
    says(lie, 0);
    EXPECT_EQ(preempted(), ErrorCode::kUnavailable) << lie;
  }
}

TEST_F(ReservationProgramTest, AHangASignalAndNoProgramProveNothing) {
  script("sleep 100 & wait");
  ReservationProgram hasty = tool();
  hasty.timeout_ms = 60;
  EXPECT_EQ(preempt_boot(hasty, kOwn, kVictim, kLuns).error().code, ErrorCode::kUnavailable);
  says(answer("preempt", two(own_only())), 0);
  script("echo '" + answer("preempt", two(own_only())) + "'; kill -9 $$");
  EXPECT_EQ(preempted(), ErrorCode::kUnavailable);
  std::filesystem::remove(program);
  EXPECT_EQ(preempted(), ErrorCode::kNotFound);
}

TEST_F(ReservationProgramTest, RegistersThisBoot) {
  says(answer("register", two(both())), 0);
  const Status done = register_boot(tool(), kOwn, kLuns);
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(arguments(), "-o\njson\n--timeout-ms\n500\nregister\n--own\n" + kOwn +
                             "\n--state\n/run/journal\n/dev/a=naa.1\n/dev/b=naa.2\n");
  says(answer("register", two("")), 0);
  EXPECT_EQ(register_boot(tool(), kOwn, kLuns).error().code, ErrorCode::kUnavailable);
}

TEST_F(ReservationProgramTest, AFencedBootIsTold) {
  for (const int status : {3, 4}) {
    says(answer("register", R"({"device":"/dev/a","error":"gone"},{"device":"/dev/b","error":"x"})",
                "second_time"),
         status);
    const Status done = register_boot(tool(), kOwn, kLuns);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kPermission);
    EXPECT_NE(done.error().message.find("this boot was fenced (gone)"), std::string::npos)
        << done.error().message;
  }
}

TEST_F(ReservationProgramTest, IdentifiesWhatItCan) {
  says(R"({"command":"keys","verdict":"not_done","luns":[)" + lun("/dev/a", "naa.1", "") +
           R"(,{"device":"/file","error":"is no block device"}]})",
       1);
  const auto found = identify_luns(tool(), {"/dev/a", "/file"});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, (std::map<std::string, std::string>{{"/dev/a", "naa.1"}}));
  EXPECT_EQ(arguments(), "-o\njson\n--timeout-ms\n500\nkeys\n/dev/a\n/file\n");
  says("nothing", 0);
  EXPECT_FALSE(identify_luns(tool(), {"/dev/a"}));
  EXPECT_TRUE(identify_luns(tool(), {})->empty());
}

TEST_F(ReservationProgramTest, SaysWhetherALunCouldFence) {
  const auto capable = [&](const std::string& fields, int status = 0) {
    says(R"({"command":"keys","verdict":"done","luns":[{"device":"/dev/a","lun":"naa.1")" + fields +
             "}]}",
         status);
    const Status able = check_lun_can_fence(tool(), "/dev/a");
    return able ? std::nullopt : std::optional(able.error().code);
  };
  EXPECT_EQ(capable(R"(,"survives_power_loss":true,"knows_type":true)"), std::nullopt);
  for (const char* fields : {R"(,"survives_power_loss":false,"knows_type":true)",
                             R"(,"survives_power_loss":true,"knows_type":false)", "",
                             R"(,"survives_power_loss":1,"knows_type":true)"}) {
    EXPECT_EQ(capable(fields), ErrorCode::kNotSupported) << fields;
  }
  EXPECT_EQ(capable(R"(,"survives_power_loss":true,"knows_type":true)", 1),
            ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace symnas::ha

// symnas fs check --repair, fs repairs, lun scrub.
#include <gtest/gtest.h>

#include <deque>
#include <sstream>

#include <nlohmann/json.hpp>

#include "vnfsd/ctl/run.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

class Scripted final : public api::ApiClient {
 public:
  Scripted(std::deque<Result<json>>& answers, std::vector<std::string>& asked)
      : ApiClient({""}), answers_(answers), asked_(asked) {}
  Result<json> request(const std::string& method, const std::string& path,
                       const json& body) override {
    asked_.push_back(method + " " + path + (body.empty() ? "" : " " + body.dump()));
    if (answers_.empty()) return json::object();
    Result<json> answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }

 private:
  std::deque<Result<json>>& answers_;
  std::vector<std::string>& asked_;
};

class RepairCommandTest : public ::testing::Test {
 protected:
  int run(const std::vector<std::string>& arguments) {
    out.str("");
    err.str("");
    const auto factory = [&](const std::string&) {
      return std::make_unique<Scripted>(answers, asked);
    };
    return run_symnas(arguments, factory, out, err);
  }
  static json plan(int findings, int due) {
    return {{"filesystem", "u04"},
            {"plan", "12-7"},
            {"revision", 12},
            {"findings_total", findings},
            {"due", due},
            {"steps",
             {{{"number", 0},
               {"verdict", due > 0 ? "repair" : "refuse"},
               {"finding", "/a: nlink is 2"},
               {"text", due > 0 ? "sets nlink" : "cannot be proved"}}}}};
  }
  std::deque<Result<json>> answers;
  std::vector<std::string> asked;
  std::ostringstream out, err;
};

TEST_F(RepairCommandTest, PlansDoesAndPlansAgain) {
  answers = {plan(1, 1), json{{"done", 1}, {"changed", 0}}, plan(0, 0)};
  EXPECT_EQ(run({"fs", "check", "u04", "--repair", "--yes"}), 0) << err.str();
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[0], "POST /v1/filesystems/u04/repair-plan");
  EXPECT_EQ(asked[1], R"(POST /v1/filesystems/u04/repair {"plan":"12-7"})");
  EXPECT_NE(out.str().find("To be done:\n  /a: nlink is 2\n    sets nlink\n"), std::string::npos)
      << out.str();
  EXPECT_NE(out.str().find("1 repaired"), std::string::npos);
}

TEST_F(RepairCommandTest, WhatIsRefusedStays) {
  answers = {plan(1, 0)};
  EXPECT_EQ(run({"fs", "check", "u04", "--repair", "--yes"}), 8);
  EXPECT_EQ(asked.size(), 1U);
  EXPECT_NE(out.str().find("Refused:\n  /a: nlink is 2\n    cannot be proved"), std::string::npos);
}

TEST_F(RepairCommandTest, ADryRunOnlySaysIt) {
  answers = {plan(1, 1)};
  EXPECT_EQ(run({"fs", "check", "u04", "--repair", "--dry-run"}), 8);
  EXPECT_EQ(asked.size(), 1U);
}

TEST_F(RepairCommandTest, NobodyCanBeAsked) {
  answers = {plan(1, 1)};
  EXPECT_EQ(run({"fs", "check", "u04", "--repair", "-o", "json"}), 2);
  EXPECT_EQ(asked.size(), 1U);
  EXPECT_NE((out.str() + err.str()).find("--yes"), std::string::npos);
}

TEST_F(RepairCommandTest, ListsWhatWasDone) {
  answers = {
      json{{"filesystem", "u04"},
           {"repairs", {{{"at_ns", 1}, {"head", "c1n1"}, {"finding", "/a"}, {"action", "sets"}}}}}};
  EXPECT_EQ(run({"fs", "repairs", "u04"}), 0);
  EXPECT_NE(out.str().find("c1n1"), std::string::npos) << out.str();
}

TEST_F(RepairCommandTest, ScrubsAllLunsOrSome) {
  answers = {json{{"luns", {{{"name", "LUN0"}}, {{"name", "LUN1"}}}}}};
  EXPECT_EQ(run({"lun", "scrub", "--rate", "4M"}), 0) << err.str();
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[2],
            R"(POST /v1/luns/LUN1/scrub {"all":false,"anew":false,"bytes_per_second":4194304})");
  EXPECT_EQ(run({"lun", "scrub", "LUN0", "--stop"}), 0);
  EXPECT_EQ(asked[3], "POST /v1/luns/LUN0/scrub-stop");
}

TEST_F(RepairCommandTest, ShowsWhatAScrubHasFound) {
  answers = {json{{"scrubs",
                   {{{"lun", "LUN0"},
                     {"state", "done"},
                     {"share", 1.0},
                     {"bad",
                      {{{"byte", 4096},
                        {"bytes", 8192},
                        {"error", "EIO"},
                        {"filesystem", "u04"},
                        {"ino", 17},
                        {"path", "/db/f"},
                        {"file_byte", 0}}}}}}}}};
  EXPECT_EQ(run({"lun", "scrub", "--status"}), 0);
  EXPECT_NE(out.str().find("8192 bytes at byte 4096: EIO: fs u04, /db/f (inode 17), byte 0"),
            std::string::npos)
      << out.str();
  EXPECT_NE(out.str().find("100.0 %"), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

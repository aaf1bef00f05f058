// symnas quota: what is asked, and what is shown.
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "vnfsd/api/client.h"
#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/run.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

class BodyClient final : public api::ApiClient {
 public:
  BodyClient(std::vector<std::string>& asked, json answer)
      : ApiClient({"/s"}), asked_(asked), answer_(std::move(answer)) {}
  Result<json> request(const std::string& method, const std::string& path,
                       const json& body) override {
    asked_.push_back(method + " " + path + " " + body.dump());
    return answer_;
  }

 private:
  std::vector<std::string>& asked_;
  const json answer_;
};

class QuotaCommandsTest : public ::testing::Test {
 protected:
  int run(const std::vector<std::string>& arguments) {
    return run_symnas(
        arguments, [&](const std::string&) { return std::make_unique<BodyClient>(asked, answer); },
        out, err);
  }
  std::vector<std::string> asked;
  json answer = {{"done", {"fs u04: done"}}};
  std::ostringstream out, err;
};

TEST_F(QuotaCommandsTest, SetAsksForWhatIsGiven) {
  EXPECT_EQ(run({"quota", "set", "u04", "--user", "1000", "--bytes", "1G", "--soft-inodes", "0"}),
            0)
      << err.str();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_NE(asked[0].find("POST /v1/filesystems/u04/quotas/set"), std::string::npos) << asked[0];
  EXPECT_NE(asked[0].find("\"bytes_hard\":1073741824"), std::string::npos) << asked[0];
  EXPECT_NE(asked[0].find("\"inodes_soft\":0"), std::string::npos) << asked[0];
  EXPECT_EQ(asked[0].find("bytes_soft"), std::string::npos) << asked[0];
}

TEST_F(QuotaCommandsTest, WhoseMustBeSaidOnce) {
  EXPECT_EQ(run({"quota", "set", "u04", "--bytes", "1G"}), kExitUsage);
  EXPECT_EQ(run({"quota", "rm", "u04", "--user", "1", "--group", "2"}), kExitUsage);
  EXPECT_TRUE(asked.empty());
  EXPECT_NE(err.str().find("--each-group, --tree and --filesystem"), std::string::npos);
}

TEST_F(QuotaCommandsTest, SwitchesAndRemovals) {
  EXPECT_EQ(run({"quota", "on", "u04"}), 0);
  EXPECT_EQ(run({"quota", "off", "u04"}), 0);
  EXPECT_EQ(run({"quota", "rm", "u04", "--filesystem"}), 0);
  EXPECT_EQ(run({"quota", "rm", "u04", "--each-user"}), 0);
  ASSERT_EQ(asked.size(), 4U);
  EXPECT_NE(asked[3].find("\"kind\":\"each_user\""), std::string::npos);
  EXPECT_NE(asked[0].find("\"state\":\"on\""), std::string::npos);
  EXPECT_NE(asked[1].find("\"state\":\"off\""), std::string::npos);
  EXPECT_NE(asked[2].find("\"kind\":\"filesystem\""), std::string::npos);
}

TEST_F(QuotaCommandsTest, ATreeIsNamedByPathOrNumber) {
  EXPECT_EQ(run({"quota", "tree", "add", "u04", "/a"}), 0) << err.str();
  EXPECT_EQ(run({"quota", "tree", "rm", "u04", "/a"}), 0) << err.str();
  EXPECT_EQ(run({"quota", "tree", "rm", "u04", "3"}), 0) << err.str();
  EXPECT_EQ(run({"quota", "set", "u04", "--tree", "/a", "--bytes", "1G"}), 0) << err.str();
  EXPECT_EQ(run({"quota", "rm", "u04", "--tree", "3"}), 0) << err.str();
  EXPECT_EQ(asked, (std::vector<std::string>{
                       R"(POST /v1/filesystems/u04/quotas/trees/add {"path":"/a"})",
                       R"(POST /v1/filesystems/u04/quotas/trees/remove {"path":"/a"})",
                       R"(POST /v1/filesystems/u04/quotas/trees/remove {"id":3})",
                       "POST /v1/filesystems/u04/quotas/set "
                       R"({"bytes_hard":1073741824,"kind":"tree","path":"/a"})",
                       R"(POST /v1/filesystems/u04/quotas/remove {"id":3,"kind":"tree"})"}));
  EXPECT_EQ(run({"quota", "rm", "u04", "--tree", "/a", "--user", "1"}), kExitUsage);
}

TEST_F(QuotaCommandsTest, TreesAreShownWithTheirPaths) {
  const auto row = [](int id, const char* path, bool marking) {
    return json{{"kind", "tree"},   {"id", id},          {"path", path},
                {"used_bytes", 10}, {"used_inodes", 20}, {"marking", marking}};
  };
  answer = {{"filesystem", "u04"},
            {"state", "on"},
            {"quotas",
             {row(1, "/a", false),
              row(2, "/b", true),
              {{"kind", "user"}, {"id", 9}, {"used_bytes", 1}, {"used_inodes", 1}}}}};
  EXPECT_EQ(run({"quota", "tree", "ls", "u04"}), 0) << err.str();
  EXPECT_NE(out.str().find("tree 1 /a  "), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("tree 2 /b (marking)"), std::string::npos) << out.str();
  EXPECT_EQ(out.str().find("user 9"), std::string::npos) << out.str();
}

TEST_F(QuotaCommandsTest, LsShowsThoseWithLimitsAndReportAll) {
  const json limit = {{"bytes_hard", 1U << 30}, {"bytes_soft", 0U},
                      {"inodes_hard", 0U},      {"inodes_soft", 5U},
                      {"bytes_grace_s", 60U},   {"inodes_grace_s", 604800U}};
  answer = {{"filesystem", "u04"},
            {"state", "on"},
            {"quotas",
             {{{"kind", "user"},
               {"id", 1},
               {"used_bytes", 4096},
               {"used_inodes", 9},
               {"limit", limit},
               {"inodes_grace_left_s", 7201}},
              {{"kind", "group"}, {"id", 2}, {"used_bytes", 8192}, {"used_inodes", 3}}}}};
  EXPECT_EQ(run({"quota", "ls", "u04"}), 0);
  EXPECT_NE(out.str().find("quotas are on"), std::string::npos);
  EXPECT_NE(out.str().find("user 1"), std::string::npos);
  EXPECT_NE(out.str().find("1.00G"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("3h"), std::string::npos) << out.str();
  EXPECT_EQ(out.str().find("group 2"), std::string::npos);
  EXPECT_EQ(run({"quota", "report", "u04"}), 0);
  EXPECT_NE(out.str().find("group 2"), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

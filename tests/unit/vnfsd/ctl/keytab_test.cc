// symnas vnfs keytab: what is asked, and that a keytab is shown nowhere.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/ctl/recording_client.h"
#include "vnfsd/ctl/run.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

class KeytabCommands : public ::testing::Test {
 protected:
  int run(const std::vector<std::string>& arguments, const json& answer) {
    asked.clear();
    out.str("");
    err.str("");
    return run_symnas(
        arguments,
        [&](const std::string&) { return std::make_unique<RecordingClient>(asked, answer); }, out,
        err);
  }
  std::vector<std::string> asked;
  std::ostringstream out, err;
};

TEST_F(KeytabCommands, SetSendsTheFileAndPrintsWhatWasDone) {
  char path[] = "/tmp/keytab_test.XXXXXX";
  ASSERT_GE(::mkstemp(path), 0);
  std::ofstream(path) << "secret";
  EXPECT_EQ(run({"vnfs", "keytab", "set", "vnfs1", "--file", path}, {{"done", {"it has keys"}}}),
            0);
  EXPECT_EQ(asked, std::vector<std::string>{"POST /v1/vnfs/vnfs1/keytab"});
  EXPECT_EQ(out.str(), "it has keys\n");
  EXPECT_EQ(run({"vnfs", "keytab", "set", "vnfs1", "--file", path, "--owner-domain", "x.org"},
                {{"done", {"it has keys"}}}),
            0);
  std::filesystem::remove(path);
  EXPECT_EQ(run({"vnfs", "keytab", "set", "vnfs1", "--file", path}, {}), 3);
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(run({"vnfs", "keytab", "set", "vnfs1"}, {}), 2);
}

TEST_F(KeytabCommands, ShowPrintsWhatKeysThereAre) {
  const json keytab = {{{"principal", "nfs/vnfs1@R"}, {"kvno", 3}, {"enctype", "aes256"}}};
  const json answer = {
      {"vnfs", {{{"name", "vnfs1"}, {"keytab", keytab}, {"owner_domain", "example.com"}}}}};
  EXPECT_EQ(run({"vnfs", "keytab", "show", "vnfs1"}, answer), 0);
  EXPECT_NE(out.str().find("nfs/vnfs1@R"), std::string::npos);
  EXPECT_NE(out.str().find("example.com"), std::string::npos);
  EXPECT_EQ(run({"vnfs", "keytab", "show", "vnfs2"}, answer), 3);
}

TEST_F(KeytabCommands, RmAsksForIt) {
  EXPECT_EQ(run({"vnfs", "keytab", "rm", "vnfs1", "--dry-run"}, {{"done", {"x"}}}), 0);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_TRUE(asked[0].starts_with("DELETE /v1/vnfs/vnfs1/keytab")) << asked[0];
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

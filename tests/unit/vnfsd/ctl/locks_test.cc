// symnas lock ls, lock clear: what is asked, and what is shown.
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/ctl/recording_client.h"
#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/run.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

class LockCommandsTest : public ::testing::Test {
 protected:
  int run(const std::vector<std::string>& arguments) {
    return run_symnas(
        arguments,
        [&](const std::string&) { return std::make_unique<RecordingClient>(asked, answer); }, out,
        err);
  }
  std::vector<std::string> asked;
  json answer = {{"done", {"fs u04: locks of 2 owners would be released"}}};
  std::ostringstream out, err;
};

TEST_F(LockCommandsTest, LsShowsALineForEachRange) {
  answer = {{"locks",
             {{{"filesystem", "u04"},
               {"ino", 17},
               {"vnfs", "v1"},
               {"client", "db1"},
               {"address", "10.0.0.7"},
               {"owner", "5/5@db1"},
               {"protocol", "nlm"},
               {"revocable", "no"},
               {"age_s", 7300},
               {"ranges",
                {{{"start", 0}, {"length", 10}, {"type", "write"}},
                 {{"start", 30}, {"type", "read"}}}}}}}};
  EXPECT_EQ(run({"lock", "ls", "--client", "a b/c"}), 0);
  EXPECT_EQ(asked, std::vector<std::string>{"GET /v1/locks?client=a%20b%2Fc"});
  EXPECT_EQ(
      out.str(),
      "FS   FILE      VNFS  CLIENT  ADDRESS   OWNER    PROTOCOL  TYPE   START  LENGTH      AGE  "
      "REVOCABLE\n"
      "u04  inode 17  v1    db1     10.0.0.7  5/5@db1  nlm       write  0      10          2h   "
      "no\n"
      "u04  inode 17  v1    db1     10.0.0.7  5/5@db1  nlm       read   30     to the end  2h   "
      "no\n");
}

TEST_F(LockCommandsTest, ClearWithoutYesOnlySaysHowMany) {
  EXPECT_EQ(run({"lock", "clear", "--fs", "u04", "--path", "/f"}), kExitUsage);
  EXPECT_EQ(asked,
            std::vector<std::string>{"DELETE /v1/locks?filesystem=u04&path=%2Ff&dry_run=true"});
  EXPECT_NE(err.str().find("locks of 2 owners would be released"), std::string::npos);
  EXPECT_NE(err.str().find("--yes"), std::string::npos);
}

TEST_F(LockCommandsTest, ClearWithYesClears) {
  EXPECT_EQ(run({"lock", "clear", "--vnfs", "v1", "--yes"}), 0);
  EXPECT_EQ(asked, std::vector<std::string>{"DELETE /v1/locks?vnfs=v1"});
}

TEST_F(LockCommandsTest, ClearOfEverythingIsRefused) {
  EXPECT_EQ(run({"lock", "clear", "--yes"}), kExitUsage);
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(run({"lock", "ls", "--ino", "17"}), kExitUsage) << "of which filesystem?";
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

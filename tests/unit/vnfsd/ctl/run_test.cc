#include "vnfsd/ctl/run.h"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

struct Asked {
  std::string socket, method, path;
  json body;
};

// Answers every request with the same; remembers what was asked.
class FakeClient final : public api::ApiClient {
 public:
  FakeClient(std::string socket, std::vector<Asked>& asked, const Result<json>& answer)
      : ApiClient({socket}), socket_(std::move(socket)), asked_(asked), answer_(answer) {}
  Result<json> request(const std::string& method, const std::string& path,
                       const json& body) override {
    asked_.push_back({socket_, method, path, body});
    return answer_;
  }

 private:
  std::string socket_;
  std::vector<Asked>& asked_;
  const Result<json>& answer_;
};

class RunTest : public ::testing::Test {
 protected:
  int run(const std::vector<std::string>& arguments) {
    asked.clear();
    out.str("");
    err.str("");
    return run_symnas(
        arguments,
        [&](const std::string& socket) {
          return std::make_unique<FakeClient>(socket, asked, answer);
        },
        out, err);
  }
  std::vector<Asked> asked;
  Result<json> answer = json{{"done", {"it is done"}}};
  std::ostringstream out, err;
};

TEST_F(RunTest, VolumeCreate) {
  EXPECT_EQ(run({"volume", "create", "v1", "--luns", "LUN0,LUN1", "--stripe-unit", "256K"}), 0);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].method, "POST");
  EXPECT_EQ(asked[0].path, "/v1/volumes");
  EXPECT_EQ(asked[0].body,
            (json{{"name", "v1"}, {"luns", {"LUN0", "LUN1"}}, {"stripe_unit_bytes", 262144}}));
  EXPECT_EQ(out.str(), "it is done\n");
}

TEST_F(RunTest, DryRunIsPassedOnAndShown) {
  EXPECT_EQ(run({"volume", "rm", "v1", "--dry-run"}), 0);
  EXPECT_EQ(asked[0].path, "/v1/volumes/v1?dry_run=true");
  EXPECT_EQ(out.str(), "dry run: it is done\n");
}

TEST_F(RunTest, ALunMayBeForgotten) {
  EXPECT_EQ(run({"lun", "release", "LUN0", "--forget", "--dry-run"}), 0);
  EXPECT_EQ(asked[0].path, "/v1/luns/LUN0?forget=true&dry_run=true");
  EXPECT_EQ(run({"lun", "release", "LUN0"}), 0);
  EXPECT_EQ(asked.back().path, "/v1/luns/LUN0");
}

TEST_F(RunTest, OutputAndSocketMayStandAnywhere) {
  EXPECT_EQ(run({"lun", "release", "LUN0", "-o", "json", "--socket", "/s"}), 0);
  EXPECT_EQ(json::parse(out.str()), (json{{"done", {"it is done"}}, {"dry_run", false}}));
  EXPECT_EQ(asked[0].socket, "/s");
  EXPECT_EQ(run({"--socket", "/t", "-o", "json", "lun", "release", "LUN0"}), 0);
  EXPECT_EQ(asked[0].socket, "/t");
}

TEST_F(RunTest, SocketFromTheEnvironment) {
  ::setenv("SYMNAS_SOCKET", "/env", 1);
  run({"lun", "release", "LUN0"});
  EXPECT_EQ(asked[0].socket, "/env");
  run({"lun", "release", "LUN0", "--socket", "/option"});
  EXPECT_EQ(asked[0].socket, "/option");
  ::unsetenv("SYMNAS_SOCKET");
  run({"lun", "release", "LUN0"});
  EXPECT_EQ(asked[0].socket, "/run/symnas/vnfsd.sock");
}

TEST_F(RunTest, LunScan) {
  answer = json{{"devices",
                 {{{"path", "/dev/a"},
                   {"size_bytes", 1 << 30},
                   {"logical_block_bytes", 512},
                   {"state", "free"},
                   {"what", ""},
                   {"partition", true}},
                  {{"path", "/dev/b"},
                   {"size_bytes", 1 << 30},
                   {"logical_block_bytes", 4096},
                   {"state", "imported"},
                   {"what", "LUN LUN0, of no volume"},
                   {"heads", {"c1n1", "c1n2"}},
                   {"same_as", "/dev/c"}}}}};
  EXPECT_EQ(run({"lun", "scan", "/dev/a", "/dev/b"}), 0) << err.str();
  EXPECT_EQ(asked[0].path, "/v1/lun-scan");
  EXPECT_EQ(asked[0].body, (json{{"paths", {"/dev/a", "/dev/b"}}}));
  EXPECT_EQ(
      out.str(),
      "PATH    SIZE   BLOCK  STATE     WHAT                                            SEEN BY\n"
      "/dev/a  1.00G  512    free      a partition                                     -\n"
      "/dev/b  1.00G  4096   imported  LUN LUN0, of no volume; the same LUN as /dev/c  "
      "c1n1,c1n2\n");
  EXPECT_EQ(run({"lun", "scan", "-o", "json"}), 0);
  EXPECT_EQ(asked[0].body, (json{{"paths", json::array()}}));
  EXPECT_EQ(json::parse(out.str()), *answer);
}

TEST_F(RunTest, LunImport) {
  EXPECT_EQ(run({"lun", "import", "A=/dev/x", "B=/with=equals", "--force", "B"}), 0);
  EXPECT_EQ(asked[0].body, (json{{"luns",
                                  {{{"name", "A"}, {"path", "/dev/x"}, {"force", false}},
                                   {{"name", "B"}, {"path", "/with=equals"}, {"force", true}}}}}));
  for (const char* pair : {"A", "=x", "A="}) EXPECT_EQ(run({"lun", "import", pair}), 2) << pair;
  EXPECT_EQ(run({"lun", "import", "A=/x", "--force", "B"}), 2);
  EXPECT_EQ(err.str(), "symnas: lun import: --force B: no LUN of that name is being imported\n");
  EXPECT_TRUE(asked.empty());
}

TEST_F(RunTest, ForceTakesOneName) {
  EXPECT_EQ(run({"lun", "import", "--force", "A", "A=/x", "B=/y"}), 0);
  EXPECT_EQ(asked[0].body["luns"].size(), 2u);
}

TEST_F(RunTest, FilesystemOwnerAndMode) {
  EXPECT_EQ(run({"fs", "create", "u04", "--volume", "v1", "--owner", "7:8", "--mode", "1777"}), 0);
  EXPECT_EQ(asked[0].body, (json{{"name", "u04"},
                                 {"volume", "v1"},
                                 {"root_uid", 7},
                                 {"root_gid", 8},
                                 {"root_mode", 01777}}));
  EXPECT_EQ(run({"fs", "create", "u04", "--volume", "v1", "--mode", "0800"}), 2);
  EXPECT_EQ(run({"fs", "create", "u04", "--volume", "v1", "--mode", "77777777777777777"}), 2);
  EXPECT_EQ(run({"fs", "create", "u04", "--volume", "v1", "--owner", "root"}), 2);
}

TEST_F(RunTest, VnfsCreateWithoutWaiting) {
  EXPECT_EQ(run({"vnfs", "create", "vnfs1", "--vip", "10.0.0.1/24", "--vip", "10.0.0.2/24",
                 "--network", "nfs0", "--exports", "a,b", "--heads", "c1n1", "--no-wait"}),
            0);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].body["vips"], json({"10.0.0.1/24", "10.0.0.2/24"}));
  EXPECT_EQ(asked[0].body["exports"], json({"a", "b"}));
}

TEST_F(RunTest, ExportSetSendsOnlyWhatIsGiven) {
  EXPECT_EQ(run({"export", "set", "u04", "--access", "ro", "--clients", "a,b"}), 0);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].path, "/v1/exports/u04/set");
  EXPECT_EQ(asked[0].body, (json{{"access", "ro"}, {"clients", {"a", "b"}}}));
}

TEST_F(RunTest, ExportRmOfSomeVnfsesOrOfAll) {
  EXPECT_EQ(run({"export", "rm", "u04", "--vnfs", "vnfs1,vnfs2", "--yes"}), 0);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].path, "/v1/exports/u04/take-off?yes=true");
  EXPECT_EQ(asked[0].body["vnfs"], json({"vnfs1", "vnfs2"}));
  EXPECT_EQ(run({"export", "rm", "u04"}), 0);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].method, "DELETE");
  EXPECT_EQ(asked[0].path, "/v1/exports/u04");
  EXPECT_EQ(run({"export", "add", "u04", "--vnfs", "vnfs1"}), 0);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].path, "/v1/exports/u04/add");
}

TEST_F(RunTest, HeadRmAndHeadsOfAVnfs) {
  EXPECT_EQ(run({"head", "rm", "c1n2", "--yes"}), 0);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].path, "/v1/heads/c1n2?yes=true");
  EXPECT_EQ(run({"vnfs", "set", "vnfs1", "--heads", "c1n1,c1n3"}), 0);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].path, "/v1/vnfs/vnfs1/set");
  EXPECT_EQ(asked[0].body, (json{{"heads", {"c1n1", "c1n3"}}}));
}

TEST_F(RunTest, VnfsStopWaitsUntilItIsStopped) {
  answer = json{{"done", {"ok"}}, {"vnfs", {{{"name", "vnfs1"}, {"state", "stopped"}}}}};
  EXPECT_EQ(run({"vnfs", "stop", "vnfs1"}), 0);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[1].path, "/v1/status");
}

TEST_F(RunTest, VnfsStartThatDoesNotServeSaysWhy) {
  answer = json{{"done", {"ok"}},
                {"vnfs",
                 {{{"name", "vnfs1"},
                   {"state", "fencing"},
                   {"instance", {{"error", "lun LUN0: in flight"}}}}}}};
  EXPECT_EQ(run({"vnfs", "start", "vnfs1", "--timeout", "0"}), 5);
  EXPECT_NE(err.str().find("is fencing after 0 s, not serving: lun LUN0: in flight"),
            std::string::npos);
}

TEST_F(RunTest, CheckWithoutFindings) {
  answer = json{{"filesystem", "u04"}, {"findings_total", 0}, {"findings", json::array()},
                {"files", 12},         {"took_ms", 250},      {"bytes_used", 4096}};
  EXPECT_EQ(run({"fs", "check", "u04"}), 0);
  EXPECT_EQ(asked[0].method, "POST");
  EXPECT_EQ(asked[0].path, "/v1/filesystems/u04/check");
  EXPECT_NE(out.str().find("fs u04: 0 findings; 12 files, "), std::string::npos) << out.str();
}

TEST_F(RunTest, CheckWithFindingsEndsWithACodeOfItsOwn) {
  answer = json{{"filesystem", "u04"},
                {"findings_total", 3},
                {"findings", {{{"kind", "links"}, {"text", "/a (inode 17): nlink is 2"}}}}};
  EXPECT_EQ(run({"fs", "check", "u04"}), 8);
  EXPECT_NE(out.str().find("/a (inode 17): nlink is 2\n... and 2 more\nfs u04: 3 findings; "),
            std::string::npos)
      << out.str();
  EXPECT_EQ(run({"fs", "check", "u04", "-o", "json"}), 8);
  EXPECT_EQ(json::parse(out.str()), *answer);
}

TEST_F(RunTest, DumpByPathOrNumber) {
  answer =
      json{{"ino", 17},
           {"type", "regular"},
           {"mode", 0640},
           {"map_in", "inode"},
           {"extents",
            {{{"blocks", 3},
              {"written_blocks", 2},
              {"pieces",
               {{{"file_byte", 0}, {"bytes", 12288}, {"lun", "LUN1"}, {"lun_byte", 1048576}}}}}}}};
  EXPECT_EQ(run({"fs", "dump", "u04", "/a/b"}), 0);
  EXPECT_EQ(asked[0].path, "/v1/filesystems/u04/dump");
  EXPECT_EQ(asked[0].body, (json{{"path", "/a/b"}}));
  EXPECT_NE(out.str().find("inode 17  regular  mode 0640"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("LUN1  1048576"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("2 of 3 blocks"), std::string::npos) << out.str();
  EXPECT_EQ(run({"fs", "dump", "u04", "--ino", "17"}), 0);
  EXPECT_EQ(asked[0].body, (json{{"ino", 17}}));
  EXPECT_EQ(run({"fs", "dump", "u04", "/a", "--ino", "17"}), 2);
}

TEST_F(RunTest, Capacity) {
  answer = json{{"filesystems", {{{"name", "u04"}, {"files", 12}, {"files_fit", 5000000}}}},
                {"etcd", {{"quota_bytes", 8589934592}, {"share_used", 0.125}}},
                {"instances", {{{"vnfs", "vnfs1"}, {"pid", 42}, {"resident_bytes", 60 << 20}}}}};
  EXPECT_EQ(run({"capacity"}), 0);
  EXPECT_EQ(asked[0].path, "/v1/capacity");
  EXPECT_NE(out.str().find("5000000"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("12.5 %"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("vnfs1"), std::string::npos) << out.str();
}

TEST_F(RunTest, ErrorsBecomeExitCodes) {
  const auto code_for = [&](ErrorCode code) {
    answer = fail(code, "lun X: no");
    return run({"lun", "ls"});
  };
  EXPECT_EQ(code_for(ErrorCode::kInternal), 1);
  EXPECT_EQ(code_for(ErrorCode::kInvalidArgument), 2);
  EXPECT_EQ(code_for(ErrorCode::kNotFound), 3);
  EXPECT_EQ(code_for(ErrorCode::kAlreadyExists), 4);
  EXPECT_EQ(code_for(ErrorCode::kBusy), 4);
  EXPECT_EQ(code_for(ErrorCode::kConflict), 4);
  EXPECT_EQ(code_for(ErrorCode::kShutdown), 5);
  EXPECT_EQ(code_for(ErrorCode::kUnavailable), 5);
  EXPECT_EQ(code_for(ErrorCode::kNoSpace), 6);
  EXPECT_EQ(code_for(ErrorCode::kForeign), 7);
  EXPECT_EQ(err.str(), "symnas: lun X: no\n");
  EXPECT_EQ(out.str(), "");
}

TEST_F(RunTest, JsonErrorsGoToStdout) {
  answer = fail(ErrorCode::kNotFound, "lun X: no");
  EXPECT_EQ(run({"lun", "ls", "-o", "json"}), 3);
  EXPECT_EQ(json::parse(out.str())["error"]["code"], "not_found");
  EXPECT_EQ(err.str(), "");
}

TEST_F(RunTest, UsageErrorsAreTwoAndAskNobody) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"dance"},
      {"volume"},
      {"volume", "create"},
      {"volume", "create", "v1"},
      {"volume", "create", "v1", "--luns", "A", "--bogus"},
      {"volume", "create", "v1", "--luns", "A", "--stripe-unit", "x"},
      {"lun", "ls", "-o", "xml"},
      {"volume", "rm", "a/b"},
      {"status", "more"}};
  for (const auto& arguments : wrong) EXPECT_EQ(run(arguments), 2);
  EXPECT_TRUE(asked.empty());
}

TEST_F(RunTest, HelpIsSuccess) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_NE(out.str().find("volume"), std::string::npos);
  EXPECT_EQ(run({"volume", "create", "--help"}), 0);
}

TEST_F(RunTest, StatusShowsInstancesAndTheirErrors) {
  answer = json{{"head", "c1n1"},
                {"cluster", {{"name", "lab"}, {"config_version", 3}}},
                {"etcd",
                 {{{"endpoint", "https://x:2379"},
                   {"reachable", true},
                   {"leader", true},
                   {"db_size_bytes", 20480},
                   {"revision", 9},
                   {"error", ""}}}},
                {"luns", json::array()},
                {"heads", {{{"name", "c1n2"}, {"draining", true}}}},
                {"vnfs",
                 {{{"name", "vnfs1"},
                   {"state", "waiting"},
                   {"owner", "c1n1"},
                   {"vips", {{{"address", "10.0.0.1"}, {"prefix_length", 24}}}},
                   {"instance", {{"error", "vnfs vnfs1: no"}, {"restarts", 2}}}}}}};
  EXPECT_EQ(run({"status"}), 0);
  EXPECT_NE(out.str().find("https://x:2379  leader  20.0K  9         -\n"), std::string::npos);
  EXPECT_NE(out.str().find("vnfs1  waiting  c1n1   10.0.0.1/24"), std::string::npos);
  EXPECT_NE(out.str().find("\nvnfs vnfs1: no\n"), std::string::npos);
  EXPECT_NE(out.str().find("\nhead c1n2: is being drained"), std::string::npos);
}

TEST_F(RunTest, StatusShowsWhereCorosyncDoubts) {
  answer = json{{"silent", {{{"head", "c1n2"}, {"why", "it is fenced"}}}},
                {"corosync",
                 {{"error", ""},
                  {"quorate", true},
                  {"heads",
                   {{{"head", "c1n1"}, {"state", "member"}},
                    {{"head", "c1n2"}, {"state", "member"}},
                    {{"head", "c1n3"}, {"state", "lost"}}}},
                  {"no_node", json::array({"c1n4"})},
                  {"strangers", json::array({"node 9"})}}}};
  EXPECT_EQ(run({"status"}), 0);
  EXPECT_NE(out.str().find("\nhead c1n2: corosync still has it as a member\n"), std::string::npos);
  EXPECT_NE(out.str().find("\nhead c1n3: is no member of corosync, and"), std::string::npos);
  EXPECT_NE(out.str().find("\nhead c1n4: corosync has no such node"), std::string::npos);
  EXPECT_NE(out.str().find("\ncorosync: node 9 is no head"), std::string::npos);
  EXPECT_EQ(out.str().find("head c1n1"), std::string::npos);
  answer = json{{"corosync", {{"error", "does not answer"}}}};
  EXPECT_EQ(run({"status"}), 0);
  EXPECT_NE(out.str().find("\ncorosync: does not answer: it is no witness"), std::string::npos);
}

TEST_F(RunTest, StatusWithoutEtcdIsUnreachable) {
  answer = json{{"head", "c1n1"}, {"error", "etcd: away"}, {"vnfs", json::array()}};
  EXPECT_EQ(run({"status"}), 5);
}

TEST_F(RunTest, VnfsRemoveSaysWhetherClientsMayBeLost) {
  EXPECT_EQ(run({"vnfs", "rm", "v1"}), 0);
  EXPECT_EQ(asked.at(0).path, "/v1/vnfs/v1");
  EXPECT_EQ(run({"vnfs", "rm", "v1", "--yes"}), 0);
  EXPECT_EQ(asked.at(0).path, "/v1/vnfs/v1?yes=true");
  EXPECT_EQ(run({"vnfs", "rm", "v1", "--yes", "--dry-run"}), 0);
  EXPECT_EQ(asked.at(0).path, "/v1/vnfs/v1?yes=true&dry_run=true");
}

TEST_F(RunTest, EventsOfOneVnfs) {
  answer = json{{"revision", 9},
                {"lost", json::array()},
                {"events",
                 {{{"kind", "move"}, {"vnfs", "v1"}, {"text", "vnfs v1: served by b"}},
                  {{"kind", "change"}, {"vnfs", "v2"}, {"text", "vnfs v2: to be stopped"}}}}};
  EXPECT_EQ(run({"events", "--vnfs", "v1", "--after", "4"}), 0);
  EXPECT_EQ(asked.at(0).path, "/v1/events?after=4");
  EXPECT_EQ(out.str(), "-  move            vnfs v1: served by b\n");
  EXPECT_EQ(run({"events", "-o", "json"}), 0);
  const std::string first = out.str().substr(0, out.str().find('\n'));
  EXPECT_EQ(json::parse(first)["text"], "vnfs v1: served by b");
}

TEST_F(RunTest, DrillRefusesWhatItCannotSee) {
  answer = json{{"head", "c1n1"},
                {"vnfs",
                 {{{"name", "v1"},
                   {"owner", "c1n1"},
                   {"heads", {"c1n1", "c1n2"}},
                   {"vips", {{{"address", "127.0.0.1"}}}}}}}};
  EXPECT_EQ(run({"drill", "kill", "v1", "--yes"}), 2);
  EXPECT_NE(err.str().find("run it on another head than c1n1"), std::string::npos) << err.str();
  EXPECT_EQ(run({"drill", "move", "v2"}), 3);
  for (const Asked& one : asked) EXPECT_EQ(one.method, "GET");
}

TEST_F(RunTest, DrillOfAKillNeedsConsent) {
  answer = json{{"head", "c1n3"},
                {"vnfs",
                 {{{"name", "v1"},
                   {"owner", "c1n1"},
                   {"clients", {"10.0.0.7"}},
                   {"heads", {"c1n1", "c1n2"}},
                   {"vips", {{{"address", "127.0.0.1"}}}}}}}};
  EXPECT_EQ(run({"drill", "kill", "v1"}), 4);
  EXPECT_NE(err.str().find("1 clients are connected"), std::string::npos) << err.str();
}

TEST_F(RunTest, DrillOfACrashIsExplained) {
  EXPECT_EQ(run({"drill", "crash"}), 0);
  EXPECT_NE(out.str().find("symnas events --follow"), std::string::npos);
  EXPECT_TRUE(asked.empty());
}

TEST_F(RunTest, EventsSayWhatMayBeMissing) {
  answer = json{{"revision", 9}, {"lost", {"c1n2"}}, {"events", json::array()}};
  EXPECT_EQ(run({"events"}), 0);
  EXPECT_NE(out.str().find("head c1n2: older events may be missing"), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

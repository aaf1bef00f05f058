// symnas api, audit and --remote: what is asked, what is written, and what is refused.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/run.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

struct Asked {
  std::string what;
  json body;
};

class FakeClient final : public api::ApiClient {
 public:
  FakeClient(std::vector<Asked>& asked, json answer)
      : ApiClient({"/s"}), asked_(asked), answer_(std::move(answer)) {}
  Result<json> request(const std::string& method, const std::string& path,
                       const json& body) override {
    asked_.push_back({method + " " + path, body});
    return answer_;
  }

 private:
  std::vector<Asked>& asked_;
  const json answer_;
};

class AccessCommandsTest : public ::testing::Test {
 protected:
  AccessCommandsTest() {
    std::string path = "/tmp/access_test.XXXXXX";
    folder = ::mkdtemp(path.data());
  }
  ~AccessCommandsTest() override { std::filesystem::remove_all(folder); }
  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--socket", "/s"});
    return run_symnas(
        arguments, [&](const std::string&) { return std::make_unique<FakeClient>(asked, answer); },
        out, err);
  }
  std::string file(const std::string& name) const { return folder + "/" + name; }
  std::string text(const std::string& name) const {
    std::ifstream in(file(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& name, const std::string& content, mode_t mode) {
    std::ofstream(file(name)) << content;
    ::chmod(file(name).c_str(), mode);
  }
  mode_t mode_of(const std::string& name) const {
    struct stat found {};
    return ::stat(file(name).c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
  }
  std::string folder;
  std::vector<Asked> asked;
  json answer;
  std::ostringstream out, err;
};

TEST_F(AccessCommandsTest, ATokenIsShownAloneOrWrittenForItsUserOnly) {
  answer = {{"done", {"api token t: made"}}, {"token", "symnas.t.secret"}};
  EXPECT_EQ(run({"api", "token", "create", "t", "--role", "viewer", "--expires", "90d"}), 0);
  EXPECT_EQ(out.str(), "symnas.t.secret\n");
  EXPECT_EQ(asked.at(0).what, "POST /v1/api-tokens");
  EXPECT_EQ(asked[0].body, (json{{"name", "t"}, {"role", "viewer"}, {"lifetime_s", 90 * 86'400}}));
  out.str("");
  EXPECT_EQ(run({"api", "token", "create", "t", "--role", "viewer", "--out", file("t")}), 0);
  EXPECT_EQ(out.str().find("secret"), std::string::npos);
  EXPECT_EQ(text("t"), "symnas.t.secret\n");
  EXPECT_EQ(mode_of("t"), 0600u);
  EXPECT_EQ(run({"api", "token", "create", "t", "--role", "viewer", "--out", file("t")}),
            kExitConflict);
}

TEST_F(AccessCommandsTest, LifetimesAndRolesAreChecked) {
  for (const char* bad : {"90", "d", "0d", "-1d", "1y", "1dd", "100000d"})
    EXPECT_EQ(run({"api", "token", "create", "t", "--role", "viewer", "--expires", bad}),
              kExitUsage)
        << bad;
  EXPECT_EQ(run({"api", "token", "create", "t", "--role", "root"}), kExitUsage);
  EXPECT_EQ(run({"api", "token", "create", "t"}), kExitUsage);
  EXPECT_TRUE(asked.empty());
}

TEST_F(AccessCommandsTest, AKeyIsMadeHereAndStaysHere) {
  answer = {{"done", {"issued"}}, {"certificate", "CERTIFICATE"}, {"authority", "AUTHORITY"}};
  EXPECT_EQ(run({"api", "cert", "issue", "alice", "--out", folder}), 0) << err.str();
  EXPECT_EQ(asked.at(0).what, "POST /v1/api-certificates");
  EXPECT_EQ(asked[0].body.dump().find("PRIVATE KEY"), std::string::npos);
  EXPECT_NE(asked[0].body["request"].get<std::string>().find("CERTIFICATE REQUEST"),
            std::string::npos);
  EXPECT_NE(text("alice.key").find("PRIVATE KEY"), std::string::npos);
  EXPECT_EQ(mode_of("alice.key"), 0600u);
  EXPECT_EQ(text("alice.crt"), "CERTIFICATE");
  EXPECT_EQ(text("ca.crt"), "AUTHORITY");
  // Nothing is overwritten, and nothing asked for then.
  EXPECT_EQ(run({"api", "cert", "issue", "alice", "--out", folder}), kExitConflict);
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_EQ(run({"api", "cert", "issue", "bob", "--out", folder}), 0) << err.str();
}

TEST_F(AccessCommandsTest, AnotherAuthoritysCertificateIsLeftAlone) {
  answer = {{"done", {"issued"}}, {"certificate", "CERTIFICATE"}, {"authority", "AUTHORITY"}};
  write("ca.crt", "of etcd", 0644);
  EXPECT_EQ(run({"api", "cert", "issue", "alice", "--out", folder}), kExitConflict);
  EXPECT_EQ(text("ca.crt"), "of etcd");
}

TEST_F(AccessCommandsTest, AuditIsALineForEachEntry) {
  answer = {{"entries",
             {{{"who", "ops"},
               {"from", "10.1.2.3"},
               {"head", "c1n1"},
               {"method", "POST"},
               {"path", "/v1/vnfs/v1/stop"},
               {"outcome", "permission"},
               {"text", "not yours"}},
              {{"who", "root"},
               {"from", ""},
               {"login_uid", "1000"},
               {"head", "c1n2"},
               {"method", "DELETE"},
               {"path", "/v1/vnfs/v1"},
               {"outcome", "done"}}}},
            {"revision", 7}};
  EXPECT_EQ(run({"audit", "--after", "3"}), 0);
  EXPECT_EQ(asked.at(0).what, "GET /v1/audit?after=3");
  EXPECT_EQ(out.str(),
            "-  ops from 10.1.2.3  POST /v1/vnfs/v1/stop  permission: not yours\n"
            "-  root on c1n2 (login uid 1000)  DELETE /v1/vnfs/v1  done\n");
}

TEST_F(AccessCommandsTest, SecretsThatOthersMayReadAreRefused) {
  write("token", "symnas.t.secret\n", 0644);
  write("key", "", 0600);
  const std::vector<std::string> words = {"--remote", "https://127.0.0.1:1", "--cert", file("crt"),
                                          "--key",    file("key"),           "--ca",   file("ca"),
                                          "status"};
  std::vector<std::string> with = words;
  with.insert(with.begin(), {"--token-file", file("token")});
  EXPECT_EQ(run(with), kExitNotPermitted);
  EXPECT_NE(err.str().find("chmod 600"), std::string::npos);
  EXPECT_EQ(err.str().find("secret"), std::string::npos);
  ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
  EXPECT_EQ(run(words), kExitUsage) << "without a token";
  ::unsetenv("XDG_CONFIG_HOME");
  EXPECT_TRUE(asked.empty()) << "the socket was asked instead";
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

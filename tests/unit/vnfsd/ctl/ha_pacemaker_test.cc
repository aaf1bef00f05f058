// `symnas ha pacemaker` with a vnfsd that answers by a script, and a cibadmin and a pcs that are
// scripts.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/run.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class RecordsClient final : public api::ApiClient {
 public:
  RecordsClient() : ApiClient({}) {}
  Result<json> request(const std::string& /*method*/, const std::string& path,
                       const json& /*body*/) override {
    const json heads = {"c1n1", "c1n2"};
    if (path == "/v1/status") return json{{"cluster", {{"decider", "pacemaker"}}}};
    if (path == "/v1/heads") return json{{"heads", {{{"name", "c1n1"}}, {{"name", "c1n2"}}}}};
    return json{
        {"vnfs", {{{"name", "v1"}, {"heads", heads}, {"failback", "manual"}, {"wanted", "x"}}}}};
  }
};

constexpr const char* kEmptyCib =
    "<cib><configuration><crm_config/><nodes><node id=\"1\" uname=\"c1n1\"/><node id=\"2\" "
    "uname=\"c1n2\"/></nodes><resources/><constraints/></configuration></cib>";

class HaPacemaker : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ha_pacemaker.XXXXXX";
    folder = ::mkdtemp(name);
    ::setenv("PATH", (folder + ":/usr/bin:/bin").c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder);
    ::setenv("PATH", "/usr/bin:/bin", 1);
  }
  void script(const std::string& name, const std::string& text) const {
    const std::string path = folder + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    ::chmod(path.c_str(), 0755);
  }
  void cib(const std::string& xml) const { script("cibadmin", "echo '" + xml + "'\n"); }
  std::string did() const {
    std::ifstream file(folder + "/did");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int run(std::vector<std::string> words) {
    words.insert(words.begin(), {"ha", "pacemaker"});
    out.str("");
    err.str("");
    return run_symnas(
        words, [](const std::string&) { return std::make_unique<RecordsClient>(); }, out, err);
  }

  std::string folder;
  std::ostringstream out, err;
};

TEST_F(HaPacemaker, GenerateNeedsNoPacemaker) {
  ASSERT_EQ(run({"generate"}), 0) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("\npcs resource create v1 ocf:symnas:vnfs vnfs=v1 "));
  ASSERT_EQ(run({"generate", "--crm"}), 0);
  EXPECT_THAT(out.str(), HasSubstr("\ncrm configure location location-v1-c1n2-950 v1 950: c1n2\n"));
}

TEST_F(HaPacemaker, CheckEndsWithFindings) {
  cib(kEmptyCib);
  EXPECT_EQ(run({"check"}), 8);
  EXPECT_THAT(out.str(), HasSubstr("vnfs v1: it has no resource\n"));
  EXPECT_THAT(out.str(), HasSubstr("symnas ha pacemaker apply"));
}

TEST_F(HaPacemaker, WithoutPacemakerItSaysSo) {
  EXPECT_EQ(run({"check"}), 3);
  EXPECT_THAT(err.str(), HasSubstr("cibadmin: not installed"));
  script("cibadmin", "echo 'Could not connect to the CIB' >&2; exit 102\n");
  EXPECT_EQ(run({"check"}), 5);
  EXPECT_THAT(err.str(), HasSubstr("status 102: Could not connect to the CIB"));
}

TEST_F(HaPacemaker, ApplyRunsPcsWithoutAShell) {
  cib(kEmptyCib);
  script("pcs", "echo \"$#: $*\" >>" + folder + "/did\n");
  ASSERT_EQ(run({"apply"}), 0) << err.str();
  EXPECT_THAT(did(), HasSubstr("3: property set stonith-enabled=true\n"));
  EXPECT_THAT(did(), HasSubstr("6: constraint location v1 prefers c1n1=1000 c1n2=950\n"));
  EXPECT_THAT(out.str(), HasSubstr("vnfs v1: it has no resource"));
}

TEST_F(HaPacemaker, ApplyWithoutPcsRunsCrm) {
  cib(kEmptyCib);
  script("crm", "echo \"$*\" >>" + folder + "/did\n");
  ::setenv("PATH", (folder + ":/bin").c_str(), 1);
  ASSERT_EQ(run({"apply"}), 0) << err.str();
  EXPECT_THAT(did(), HasSubstr("configure property stonith-enabled=true\n"));
}

TEST_F(HaPacemaker, ADryRunChangesNothing) {
  cib(kEmptyCib);
  script("pcs", "echo x >>" + folder + "/did\n");
  ASSERT_EQ(run({"apply", "--dry-run"}), 0) << err.str();
  EXPECT_EQ(did(), "");
  EXPECT_THAT(out.str(), HasSubstr("pcs property set stonith-action=off\n"));
}

TEST_F(HaPacemaker, ApplyStopsAtTheFirstThatFails) {
  cib(kEmptyCib);
  script("pcs", "case $1 in stonith) echo 'Error: no such agent' >&2; exit 1;; esac\n");
  EXPECT_EQ(run({"apply"}), 5);
  EXPECT_THAT(err.str(), HasSubstr("Error: no such agent [3 of "));
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

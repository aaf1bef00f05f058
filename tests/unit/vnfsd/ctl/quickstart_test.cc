// `symnas quickstart` against a vnfsd that has a cluster without anything in it.
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/run.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Answers GETs with what there is; a POST of an object makes it, unless it is to fail.
struct Cluster {
  std::map<std::string, json> rows = {
      {"heads",
       {{{"name", "c1n1"}, {"state", "serving"}, {"luns", json::array()}},
        {{"name", "c1n2"}, {"state", "serving"}, {"luns", json::array()}}}}};
  json devices = {{{"path", "/dev/a"},
                   {"state", "free"},
                   {"blank", true},
                   {"size_bytes", std::uint64_t{1} << 30}}};
  std::string fails;             // the collection that cannot be changed
  std::vector<std::string> did;  // "networks {...}", in order

  Result<json> ask(const std::string& method, const std::string& collection, const json& body) {
    if (collection == "lun-scan") return json{{"devices", devices}};
    if (method == "GET" && collection == "status") return status();
    if (method == "GET") return json{{collection, rows[collection]}};
    if (collection == fails) return fail(ErrorCode::kBusy, collection + ": busy");
    did.push_back(collection);
    json made = body;
    if (collection == "luns") {
      made = body["luns"][0];
      for (json& head : rows["heads"]) head["luns"].push_back(made["name"]);
    }
    if (collection == "vnfs") {
      const std::string vip = body["vips"][0];
      made["vips"] = {{{"address", vip.substr(0, vip.find('/'))}}};
    }
    rows[collection].push_back(made);
    return json{{"done", {collection + " made"}}};
  }
  json status() {
    json out = {{"vnfs", json::array()}};
    for (const json& vnfs : rows["vnfs"])
      out["vnfs"].push_back({{"name", vnfs["name"]}, {"state", "serving"}});
    return out;
  }
};

class ClusterClient final : public api::ApiClient {
 public:
  explicit ClusterClient(Cluster& cluster) : ApiClient({}), cluster_(cluster) {}
  Result<json> request(const std::string& method, const std::string& path,
                       const json& body) override {
    return cluster_.ask(method, path.substr(std::string("/v1/").size()), body);
  }

 private:
  Cluster& cluster_;
};

class QuickstartCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* collection : {"networks", "luns", "volumes", "filesystems", "exports", "vnfs"})
      cluster.rows[collection] = json::array();
  }
  int run(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"quickstart",    "--vip",     "10.0.0.101/24", "--vip",
                                      "10.0.0.102/24", "--network", "nfs0=eth1"};
    words.insert(words.end(), more.begin(), more.end());
    out.str("");
    err.str("");
    return run_symnas(
        words, [&](const std::string&) { return std::make_unique<ClusterClient>(cluster); }, out,
        err);
  }
  Cluster cluster;
  std::ostringstream out, err;
};

TEST_F(QuickstartCommand, ProposesCommandsAndDoesNothing) {
  for (const auto& more : std::vector<std::vector<std::string>>{{}, {"--dry-run"}}) {
    EXPECT_EQ(run(more), 0) << err.str();
    EXPECT_TRUE(cluster.did.empty());
    EXPECT_THAT(out.str(), HasSubstr("\nsymnas lun import LUN0=/dev/a\n"));
    EXPECT_THAT(out.str(), HasSubstr("# nothing has been changed: the same with --commit"));
    // All of it may be pasted into a shell.
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(line.starts_with("# ") || line.starts_with("symnas ")) << line;
  }
  EXPECT_EQ(run({"--dry-run", "--commit"}), 2);
  EXPECT_EQ(run({"-o", "json"}), 0);
  const json document = json::parse(out.str());
  EXPECT_EQ(document["steps"].size(), 7u);
  EXPECT_EQ(document["dry_run"], true);
}

TEST_F(QuickstartCommand, NoLineOfAPathGetsOutOfItsComment) {
  cluster.devices.push_back(
      {{"path", "/dev/b\nreboot"}, {"state", "free"}, {"blank", false}, {"size_bytes", 1 << 30}});
  EXPECT_EQ(run(), 0) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("# note: /dev/b?reboot: left alone"));
}

TEST_F(QuickstartCommand, CommitRunsThemInOrder) {
  EXPECT_EQ(run({"--commit"}), 0) << err.str();
  EXPECT_THAT(cluster.did,
              ElementsAre("networks", "luns", "volumes", "filesystems", "exports", "vnfs", "vnfs"));
  EXPECT_EQ(cluster.rows["volumes"][0]["luns"], json{"LUN0"});
  EXPECT_EQ(cluster.rows["vnfs"][1]["heads"], (json{"c1n2", "c1n1"}));
  EXPECT_THAT(out.str(), HasSubstr("[2/7] symnas lun import LUN0=/dev/a\nluns made\n"));
  EXPECT_THAT(out.str(), HasSubstr("on a Linux client:\n  mount -o vers=4.1 10.0.0.101:/data"));
  EXPECT_EQ(run({"--commit"}), 0);
  EXPECT_THAT(out.str(), HasSubstr("all of it is there already"));
  EXPECT_EQ(cluster.did.size(), 7u);
}

TEST_F(QuickstartCommand, AfterAnErrorItGoesOnWhereItStopped) {
  cluster.fails = "filesystems";
  EXPECT_EQ(run({"--commit"}), 4);
  EXPECT_THAT(err.str(), HasSubstr("step 4 of 7: symnas fs create data --volume v1 --mode 1777: "
                                   "filesystems: busy [3 steps were done and stay; mend this"));
  cluster.fails = "";
  EXPECT_EQ(run({"--commit"}), 0) << err.str();
  EXPECT_THAT(cluster.did,
              ElementsAre("networks", "luns", "volumes", "filesystems", "exports", "vnfs", "vnfs"));
}

TEST_F(QuickstartCommand, WithSomethingMissingNothingIsBegun) {
  cluster.devices = json::array();
  EXPECT_EQ(run({"--commit"}), 2);
  EXPECT_THAT(err.str(), HasSubstr("quickstart: missing: a free device"));
  EXPECT_TRUE(cluster.did.empty());
}

TEST_F(QuickstartCommand, CommitAsJsonIsOneDocument) {
  EXPECT_EQ(run({"--commit", "-o", "json"}), 0) << err.str();
  const json document = json::parse(out.str());
  EXPECT_EQ(document["dry_run"], false);
  EXPECT_EQ(document["steps"][0]["said"], "networks made\n");
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

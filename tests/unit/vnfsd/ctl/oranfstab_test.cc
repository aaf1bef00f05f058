// symnas oranfstab: which paths it chooses, what it prints, and what it says is wrong.
#include "vnfsd/ctl/oranfstab.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/nfs_path.h"
#include "vnfsd/ctl/run.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json vnfs(const std::string& name, const std::vector<std::string>& vips,
          const std::vector<std::string>& exports) {
  json list = json::array();
  for (const std::string& vip : vips)
    list.push_back({{"address", vip}, {"prefix_length", vip.find(':') == vip.npos ? 24 : 64}});
  return {{"name", name}, {"vips", list}, {"exports", exports}, {"wanted", "started"}};
}

json exported(const std::string& name, const std::string& who) {
  return {{"name", name},
          {"pseudo", "/" + name},
          {"access", "rw"},
          {"rules", {{{"who", who}, {"access", "rw"}}}}};
}

class OranfstabTest : public ::testing::Test {
 protected:
  Oranfstab planned() {
    auto plan = plan_oranfstab(wish, vnfses, exports);
    EXPECT_TRUE(plan) << plan.error().message;
    return plan.value_or(Oranfstab{});
  }
  std::string refused() {
    const auto plan = plan_oranfstab(wish, vnfses, exports);
    return plan ? "accepted" : plan.error().message;
  }
  std::vector<std::string> pairs() {
    std::vector<std::string> out;
    for (const OranfstabPath& path : planned().paths) out.push_back(path.local + ">" + path.vip);
    return out;
  }

  OranfstabWish wish{.client = "db1", .vnfs = {"v1"}};
  json vnfses = {vnfs("v1", {"10.0.0.101", "10.0.1.101"}, {"u04", "redo"}),
                 vnfs("v2", {"10.0.0.102", "10.0.1.102", "10.0.2.102"}, {"u04"}),
                 vnfs("v3", {"10.0.0.103"}, {"other"}), vnfs("v6", {"fd00::101"}, {"u04"})};
  json exports = {exported("u04", "10.0.0.0/16"), exported("redo", "*"), exported("other", "*")};
};

TEST_F(OranfstabTest, VipsOfOneVnfsWithoutLocals) {
  EXPECT_EQ(text_of(planned()),
            "server: v1\n"
            "path: 10.0.0.101\n"
            "path: 10.0.1.101\n"
            "nfs_version: nfsv3\n"
            "export: /u04 mount: /mnt/u04\n"
            "export: /redo mount: /mnt/redo\n");
}

TEST_F(OranfstabTest, EachVnfsGivesItsFirstVipBeforeAnyGivesItsSecond) {
  wish.vnfs = {"v1", "v2"};
  EXPECT_THAT(pairs(),
              ::testing::ElementsAre(">10.0.0.101", ">10.0.0.102", ">10.0.1.101", ">10.0.1.102"));
  const Oranfstab plan = planned();
  EXPECT_EQ(plan.server, "v1-v2");
  ASSERT_EQ(plan.exports.size(), 1u) << "only what both have";
  ASSERT_EQ(plan.remarks.size(), 1u);
  EXPECT_EQ(plan.remarks[0].what, "5 VIPs, of which 4 are used");
}

TEST_F(OranfstabTest, ALocalAddressGoesWithAVipOfItsNetwork) {
  wish.locals = {"10.0.1.7", "10.0.0.7"};
  EXPECT_THAT(pairs(), ::testing::ElementsAre("10.0.0.7>10.0.0.101", "10.0.1.7>10.0.1.101"));
  EXPECT_THAT(text_of(planned()), HasSubstr("local: 10.0.0.7\npath: 10.0.0.101\n"));
}

TEST_F(OranfstabTest, MoreLocalsThanVipsMakeSeveralPathsToAVip) {
  wish.vnfs = {"v3"};
  wish.locals = {"10.0.0.7", "10.0.0.8"};
  EXPECT_THAT(pairs(), ::testing::ElementsAre("10.0.0.7>10.0.0.103", "10.0.0.8>10.0.0.103"));
  wish.locals = {"10.9.0.7"};
  EXPECT_THAT(pairs(), ::testing::ElementsAre("10.9.0.7>10.0.0.103")) << "through a router";
}

TEST_F(OranfstabTest, LocalsOfAnotherFamilyAreLeftOutAndToldSo) {
  wish.vnfs = {"v6"};
  wish.locals = {"10.0.0.7"};
  const Oranfstab plan = planned();
  ASSERT_EQ(plan.paths.size(), 1u);
  EXPECT_EQ(plan.paths[0].local, "");
  ASSERT_FALSE(plan.remarks.empty());
  EXPECT_THAT(plan.remarks[0].what, HasSubstr("address family"));
}

TEST_F(OranfstabTest, NamesServerAndMountAsTold) {
  wish.server = "ora";
  wish.mount = "/oradata";
  EXPECT_THAT(text_of(planned()), HasSubstr("export: /redo mount: /oradata/redo\n"));
  wish.vnfs = {"v2"};
  EXPECT_EQ(planned().exports.at(0).mount, "/oradata");
  EXPECT_EQ(planned().server, "ora");
}

TEST_F(OranfstabTest, RefusesWhatCannotBeAFile) {
  wish.vnfs = {"v9"};
  EXPECT_THAT(refused(), HasSubstr("vnfs v9: there is none"));
  wish.vnfs = {"v1", "v3"};
  EXPECT_THAT(refused(), HasSubstr("v1 and v3 export nothing that all of them have"));
  wish.vnfs = {"v1"};
  wish.locals = {"db1"};
  EXPECT_THAT(refused(), HasSubstr("--local db1"));
  wish.locals = {};
  wish.mount = "oradata";
  EXPECT_THAT(refused(), HasSubstr("--mount oradata"));
}

TEST_F(OranfstabTest, RemarksOnExportsThatDoNotAdmitTheHostAndOnStoppedVnfs) {
  wish.client = "192.168.0.7";
  vnfses[0]["wanted"] = "stopped";
  Oranfstab plan = planned();
  ASSERT_EQ(plan.remarks.size(), 2u);
  EXPECT_EQ(plan.remarks[0].what, "192.168.0.7 is admitted by none of its rules");
  EXPECT_THAT(plan.remarks[0].next, HasSubstr("symnas export set u04 --client 192.168.0.7:rw"));
  EXPECT_EQ(plan.remarks[1].next, "symnas vnfs start v1");
  wish.locals = {"10.0.0.7"};
  exports[0]["rules"][0]["access"] = "ro";
  plan = planned();
  ASSERT_EQ(plan.remarks.size(), 2u);
  EXPECT_EQ(plan.remarks[0].what, "10.0.0.7 may only read");
  exports[0]["rules"] = {{{"who", "*.example.com"}, {"access", "rw"}}};
  EXPECT_EQ(planned().remarks.size(), 1u) << "a name may be this host's";
}

TEST_F(OranfstabTest, WordsSayWhatIsWrongWithAPathAndWhatToDo) {
  const auto words = [](const PathFound& found) { return words_of(found, "10.0.0.7", "v", "v1"); };
  EXPECT_FALSE(words({.sign = PathSign::kAnswers, .packet_bytes = 9000}).problem);
  EXPECT_EQ(words({.sign = PathSign::kAnswers, .packet_bytes = 9000}).what,
            "NFS answers; packets of 9000 bytes pass");
  const PathWords lost =
      words({.sign = PathSign::kSmallOnly, .packet_bytes = 9000, .passes_bytes = 1500});
  EXPECT_TRUE(lost.problem);
  EXPECT_EQ(lost.what, "NFS answers, but packets of 9000 bytes are lost on the way");
  EXPECT_THAT(lost.next, HasSubstr("packets of 1500 bytes pass: set the MTU"));
  for (const PathSign sign : {PathSign::kNoLocal, PathSign::kNoRoute, PathSign::kSilent,
                              PathSign::kRefused, PathSign::kNoAnswer, PathSign::kSmallOnly}) {
    EXPECT_TRUE(words({.sign = sign}).problem);
    EXPECT_FALSE(words({.sign = sign}).next.empty());
  }
}

TEST_F(OranfstabTest, AnAddressThatIsNoneIsSaidWithoutAskingAnybody) {
  EXPECT_EQ(ask_path("nowhere", "10.0.0.1", 1).sign, PathSign::kNoLocal);
  EXPECT_EQ(ask_path("", "nowhere", 1).sign, PathSign::kNoRoute);
}

// Answers each collection with its own rows.
class RowsClient final : public api::ApiClient {
 public:
  RowsClient(const json& vnfs, const json& exports)
      : ApiClient({"/s"}), vnfs_(vnfs), exports_(exports) {}
  Result<json> request(const std::string&, const std::string& path, const json&) override {
    return path == "/v1/vnfs" ? json{{"vnfs", vnfs_}} : json{{"exports", exports_}};
  }

 private:
  const json vnfs_, exports_;
};

TEST_F(OranfstabTest, TheCommandPrintsTheFileOrADocument) {
  const auto run = [&](const std::vector<std::string>& arguments, std::ostringstream& out) {
    std::ostringstream err;
    return run_symnas(
        arguments,
        [&](const std::string&) { return std::make_unique<RowsClient>(vnfses, exports); }, out,
        err);
  };
  std::ostringstream text, document;
  const std::vector<std::string> words = {"oranfstab", "--client", "db1", "--vnfs", "v1,v2"};
  EXPECT_EQ(run(words, text), 0);
  EXPECT_THAT(text.str(), HasSubstr("server: v1-v2\npath: 10.0.0.101\npath: 10.0.0.102\n"));
  std::vector<std::string> with_json = words;
  with_json.insert(with_json.end(), {"-o", "json"});
  EXPECT_EQ(run(with_json, document), 0);
  EXPECT_EQ(json::parse(document.str())["paths"][1]["vnfs"], "v2");
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

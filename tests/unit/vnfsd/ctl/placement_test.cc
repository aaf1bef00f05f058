// The commands that move VNFSs, against a vnfsd that answers by a script.
#include <deque>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "vnfsd/ctl/run.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

struct Script {
  std::map<std::string, std::deque<Result<json>>> answers;  // by path; the last one stays
  std::vector<std::string> asked;                           // "POST /v1/... {body}"
};

class ScriptedClient final : public api::ApiClient {
 public:
  explicit ScriptedClient(Script& script) : ApiClient({}), script_(script) {}
  Result<json> request(const std::string& method, const std::string& path,
                       const json& body) override {
    const bool has_body = body.is_object() && !body.empty();
    script_.asked.push_back(method + " " + path + (has_body ? " " + body.dump() : ""));
    auto& answers = script_.answers[path];
    if (answers.empty()) return json{{"done", {"done: " + path}}};
    Result<json> answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    return answer;
  }

 private:
  Script& script_;
};

class PlacementCommands : public ::testing::Test {
 protected:
  int run(const std::vector<std::string>& arguments) {
    script.asked.clear();
    out.str("");
    err.str("");
    return run_symnas(
        arguments, [&](const std::string&) { return std::make_unique<ScriptedClient>(script); },
        out, err);
  }
  void answer(const std::string& path, std::deque<Result<json>> answers) {
    script.answers[path] = std::move(answers);
  }
  static json vnfs(const std::string& name, const std::string& owner, const std::string& to = "",
                   const std::string& refusal = "") {
    json row = {{"name", name}, {"owner", owner}, {"wanted", "started"}};
    if (!to.empty()) row["move"] = {{"to", to}, {"refusal", refusal}};
    return row;
  }
  static json vnfses(std::vector<json> rows) { return {{"vnfs", rows}}; }

  Script script;
  std::ostringstream out, err;
};

TEST_F(PlacementCommands, RehostWaitsUntilItIsServedThere) {
  answer("/v1/vnfs",
         {vnfses({vnfs("v", "a", "b")}), vnfses({vnfs("v", "", "b")}), vnfses({vnfs("v", "b")})});
  EXPECT_EQ(run({"vnfs", "rehost", "v", "b"}), 0) << err.str();
  EXPECT_EQ(script.asked[0], R"(POST /v1/vnfs/v/rehost {"head":"b"})");
  EXPECT_EQ(script.asked.size(), 4u);
}

TEST_F(PlacementCommands, RehostThatIsNotAnsweredIsTakenBackWithTheReason) {
  answer("/v1/vnfs", {vnfses({vnfs("v", "a", "b", "this head is being drained")})});
  EXPECT_EQ(run({"vnfs", "rehost", "v", "b", "--timeout", "0"}), 5);
  EXPECT_EQ(script.asked.back(), "POST /v1/vnfs/v/stay");
  EXPECT_NE(err.str().find("b says: this head is being drained, the VNFS stays where it is"),
            std::string::npos)
      << err.str();
  answer("/v1/vnfs", {vnfses({vnfs("v", "a", "b")})});
  EXPECT_EQ(run({"vnfs", "rehost", "v", "b", "--timeout", "0"}), 5);
  EXPECT_NE(err.str().find("b has not answered, the VNFS stays"), std::string::npos) << err.str();
}

TEST_F(PlacementCommands, RehostThatAnotherOrderOvertakesIsAConflict) {
  answer("/v1/vnfs", {vnfses({vnfs("v", "c")})});
  EXPECT_EQ(run({"vnfs", "rehost", "v", "b"}), 4);
  EXPECT_NE(err.str().find("c serves it, not b"), std::string::npos) << err.str();
}

TEST_F(PlacementCommands, ADecidersOrderGoesOnWhileItMayYetBeDone) {
  const std::string take = "/v1/vnfs/v/take", standing = "/v1/vnfs/v/standing/a";
  const std::vector<std::string> words = {"ha",   "take",      "v",         "--head", "a",
                                          "--by", "pacemaker", "--timeout", "0"};
  answer(take, {fail(ErrorCode::kUnavailable, "vnfsd: has just started")});
  answer(standing, {json{{"standing", "serving"}}});
  EXPECT_EQ(run(words), 0) << err.str();
  answer(take, {fail(ErrorCode::kBusy, "vnfs v: is on its way to c")});
  answer(standing, {json{{"standing", "stopped"}}});
  EXPECT_EQ(run(words), 4) << "the time is over";
  EXPECT_EQ(err.str(), "symnas: vnfs v: is on its way to c\n");
  answer(take, {json{{"done", {"vnfs v: pacemaker wants it on a"}}}});
  answer(standing,
         {fail(ErrorCode::kUnavailable, "etcd: no answer"), json{{"standing", "serving"}}});
  EXPECT_EQ(run({"ha", "take", "v", "--head", "a", "--by", "pacemaker", "--timeout", "5"}), 0);
  EXPECT_EQ(out.str(), "vnfs v: pacemaker wants it on a\n");
  EXPECT_EQ(script.asked.size(), 3u) << "the order stands";
  answer(take, {fail(ErrorCode::kPermission, "vnfs v: builtin decides")});
  EXPECT_EQ(run({"ha", "take", "v", "--head", "a", "--by", "pacemaker"}), 7) << "at once";
  EXPECT_EQ(script.asked.size(), 1u);
}

TEST_F(PlacementCommands, FailbackOfOneOrOfAll) {
  answer("/v1/vnfs", {vnfses({vnfs("v", "a"), vnfs("w", "a")})});
  EXPECT_EQ(run({"vnfs", "failback", "v"}), 0) << err.str();
  EXPECT_EQ(script.asked[0], "POST /v1/vnfs/v/failback");
  EXPECT_EQ(run({"vnfs", "failback", "--all"}), 0) << err.str();
  EXPECT_EQ(script.asked[1], "POST /v1/vnfs/v/failback");
  EXPECT_EQ(script.asked[3], "POST /v1/vnfs/w/failback");
  EXPECT_EQ(out.str(), "done: /v1/vnfs/v/failback\ndone: /v1/vnfs/w/failback\n");
  EXPECT_EQ(run({"vnfs", "failback"}), 2);
  EXPECT_EQ(run({"vnfs", "failback", "v", "--all"}), 2);
}

TEST_F(PlacementCommands, OneThatDoesNotFailBackKeepsNoOtherFromIt) {
  answer("/v1/vnfs", {vnfses({vnfs("v", "a"), vnfs("w", "a")})});
  answer("/v1/vnfs/v/failback", {fail(ErrorCode::kBusy, "vnfs v: none of its heads")});
  EXPECT_EQ(run({"vnfs", "failback", "--all"}), 4);
  EXPECT_EQ(script.asked[2], "POST /v1/vnfs/w/failback");
  EXPECT_EQ(err.str(), "symnas: vnfs v: none of its heads [1 of 2 VNFSs]\n");
}

TEST_F(PlacementCommands, DistributeOrdersOneMoveAfterTheOther) {
  answer("/v1/distribution",
         {json{{"moves", {{{"vnfs", "v"}, {"to", "a"}}, {{"vnfs", "w"}, {"to", "b"}}}}}});
  answer("/v1/vnfs",
         {vnfses({vnfs("v", "b", "a"), vnfs("w", "a")}), vnfses({vnfs("v", "a"), vnfs("w", "a")}),
          vnfses({vnfs("v", "a"), vnfs("w", "b")})});
  EXPECT_EQ(run({"vnfs", "distribute"}), 0) << err.str();
  EXPECT_EQ(script.asked[1], R"(POST /v1/vnfs/v/rehost {"head":"a","pin":false})");
  EXPECT_EQ(script.asked[4], R"(POST /v1/vnfs/w/rehost {"head":"b","pin":false})");
  EXPECT_EQ(run({"vnfs", "distribute", "--dry-run"}), 0);
  EXPECT_EQ(script.asked.size(), 3u);
  EXPECT_EQ(script.asked[2], R"(POST /v1/vnfs/w/rehost?dry_run=true {"head":"b","pin":false})");
  answer("/v1/distribution", {json{{"moves", json::array()}}});
  EXPECT_EQ(run({"vnfs", "distribute"}), 0);
  EXPECT_EQ(out.str(), "vnfs: every one is on the best of its heads\n");
}

TEST_F(PlacementCommands, DrainWaitsUntilNothingIsLeft) {
  answer("/v1/placement", {vnfses({{{"name", "v"}, {"owner", "a"}, {"state", "moving to b"}}}),
                           vnfses({{{"name", "v"}, {"owner", "b"}, {"state", "serving"}}})});
  EXPECT_EQ(run({"head", "drain", "a", "--wait"}), 0) << err.str();
  EXPECT_EQ(script.asked[0], "POST /v1/heads/a/drain");
  EXPECT_EQ(script.asked.size(), 3u);
  EXPECT_EQ(run({"head", "drain", "a"}), 0);
  EXPECT_EQ(script.asked.size(), 1u);
  EXPECT_EQ(run({"head", "drain", "a", "--wait", "--dry-run"}), 0);
  EXPECT_EQ(script.asked, std::vector<std::string>{"POST /v1/heads/a/drain?dry_run=true"});
  EXPECT_EQ(run({"head", "undrain", "a"}), 0);
  EXPECT_EQ(script.asked, std::vector<std::string>{"POST /v1/heads/a/undrain"});
  EXPECT_EQ(run({"head", "drain", "a/b"}), 2);
}

TEST_F(PlacementCommands, DrainSaysWhatStaysAndWhy) {
  answer("/v1/placement",
         {vnfses({{{"name", "v"}, {"owner", "a"}, {"state", "serving"}, {"why", "b: it is fenced"}},
                  {{"name", "w"}, {"owner", "b"}, {"state", "serving"}}})});
  EXPECT_EQ(run({"head", "drain", "a", "--wait", "--timeout", "0"}), 4);
  EXPECT_NE(err.str().find("vnfs v: is serving: b: it is fenced (symnas"), std::string::npos)
      << err.str();
  EXPECT_EQ(err.str().find("vnfs w"), std::string::npos);
}

TEST_F(PlacementCommands, StatusIsAMatrix) {
  const json document = {
      {"heads", {{{"name", "a"}, {"state", "serving"}}, {{"name", "b"}, {"state", "draining"}}}},
      {"vnfs",
       {{{"name", "v"},
         {"state", "serving"},
         {"failback", "auto"},
         {"pinned", "b"},
         {"places", {{"a", "P"}, {"b", "*1"}}}},
        {{"name", "w"},
         {"state", "held"},
         {"failback", "manual"},
         {"pinned", ""},
         {"why", "b is lost"},
         {"places", {{"b", "*P"}}}}}}};
  answer("/v1/placement", {document});
  EXPECT_EQ(run({"vnfs", "status"}), 0);
  EXPECT_EQ(out.str(),
            "VNFS  STATE    FAILBACK           a  b (draining)\n"
            "v     serving  auto, pinned to b  P  *1\n"
            "w     held     manual             -  *P\n"
            "vnfs w: b is lost\n");
  EXPECT_EQ(run({"vnfs", "status", "-o", "json"}), 0);
  EXPECT_EQ(json::parse(out.str()), document);
  answer("/v1/placement", {fail(ErrorCode::kUnavailable, "vnfs: nothing can move now")});
  EXPECT_EQ(run({"vnfs", "status"}), 5);
}

TEST_F(PlacementCommands, WhyNamesEachReasonOnALineOfItsOwn) {
  const json document = {
      {"vnfs", "v"},
      {"head", "b"},
      {"verdict", "may_not"},
      {"role", "backup 1"},
      {"standby", "none"},
      {"owner", "a"},
      {"state", "serving"},
      {"why", ""},
      {"planned", {{"head", "a"}, {"reason", "stays"}, {"text", "it stays with a"}}},
      {"reasons",
       {{{"orders", "all"}, {"why", "it is being drained"}, {"next", "symnas head undrain b"}},
        {{"orders", "own"}, {"why", "it has just started"}, {"next", "symnas status there"}}}},
      {"ways", json::array()},
      {"notes", {"a does not hear it"}}};
  answer("/v1/vnfs/v/why/b", {document});
  EXPECT_EQ(run({"vnfs", "why", "v", "b"}), 0) << err.str();
  EXPECT_EQ(script.asked, std::vector<std::string>{"GET /v1/vnfs/v/why/b"});
  EXPECT_EQ(out.str(),
            "vnfs v: may not run now on b: backup 1, standby: none\n"
            "  now: serving, a has it\n"
            "  plan: it stays with a\n"
            "  against it: it is being drained (symnas head undrain b)\n"
            "  not by itself: it has just started (symnas status there)\n"
            "  note: a does not hear it\n");
  EXPECT_EQ(run({"vnfs", "why", "v", "b", "-o", "json"}), 0);
  EXPECT_EQ(json::parse(out.str()), document);
}

TEST_F(PlacementCommands, WhySaysWhatWouldBringItThere) {
  answer("/v1/vnfs/v/why/b",
         {json{{"vnfs", "v"},
               {"head", "b"},
               {"verdict", "may"},
               {"role", "primary"},
               {"standby", "none"},
               {"owner", ""},
               {"state", "waiting"},
               {"why", "a is to serve it"},
               {"planned", {{"text", "a takes it"}}},
               {"ways",
                {{{"what", "an order moves it there"}, {"next", "symnas vnfs rehost v b"}},
                 {{"what", "if a is lost, it goes there"}, {"next", ""}}}}}});
  EXPECT_EQ(run({"vnfs", "why", "v", "b"}), 0) << err.str();
  EXPECT_EQ(out.str(),
            "vnfs v: may run on b: primary, standby: none\n"
            "  now: waiting, nobody has it: a is to serve it\n"
            "  plan: a takes it\n"
            "  way: an order moves it there (symnas vnfs rehost v b)\n"
            "  way: if a is lost, it goes there\n");
}

TEST_F(PlacementCommands, WhyNeedsAVnfsAndAHeadThatAreKnown) {
  EXPECT_EQ(run({"vnfs", "why", "v"}), 2);
  EXPECT_EQ(run({"vnfs", "why", "v", "b/c"}), 2);
  EXPECT_TRUE(script.asked.empty());
  answer("/v1/vnfs/v/why/b", {fail(ErrorCode::kNotFound, "head b: does not exist (symnas ...)")});
  EXPECT_EQ(run({"vnfs", "why", "v", "b"}), 3);
  EXPECT_EQ(err.str(), "symnas: head b: does not exist (symnas ...)\n");
}

TEST_F(PlacementCommands, CreateSetWaitsForEveryOne) {
  answer("/v1/status",
         {vnfses({{{"name", "v1"}, {"state", "owned"}}, {{"name", "v2"}, {"state", "serving"}}})});
  answer("/v1/heads", {json{{"heads", {{{"name", "a"}}, {{"name", "b"}}}}}});
  EXPECT_EQ(run({"vnfs", "create-set", "v", "--vip-range", "10.0.0.1/24@n", "--vip-range",
                 "10.1.0.1/24@m", "--exports", "e,f", "--failback", "auto"}),
            0)
      << err.str();
  EXPECT_EQ(script.asked[0],
            R"(POST /v1/vnfs-sets {"exports":["e","f"],"failback":"auto","prefix":"v",)"
            R"("vip_ranges":["10.0.0.1/24@n","10.1.0.1/24@m"]})");
  EXPECT_EQ(run({"vnfs", "create-set", "v", "--vip-range", "x@n", "--exports", "e", "--heads",
                 "b,a", "--no-wait"}),
            0);
  EXPECT_EQ(script.asked.size(), 1u);
  EXPECT_NE(script.asked[0].find(R"("heads":["b","a"])"), std::string::npos);
}

TEST_F(PlacementCommands, TheFailbackPolicyIsOneOfTwoWords) {
  EXPECT_EQ(run({"vnfs", "set", "v", "--failback", "auto"}), 0);
  EXPECT_EQ(script.asked[0], R"(POST /v1/vnfs/v/set {"failback":"auto"})");
  EXPECT_EQ(run({"vnfs", "set", "v", "--failback", "soon"}), 2);
  EXPECT_EQ(run({"vnfs", "set", "v"}), 2);
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

#include "vnfsd/api/router.h"

#include <nlohmann/json.hpp>

#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/api/fake_backends.h"
#include "tests/unit/vnfsd/api/reply_check.h"
#include "vnfsd/api/routes.h"
#include "vnfsd/api/wire.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

class RouterTest : public ::testing::Test {
 protected:
  Result<json> ask(const std::string& method, const std::string& path, const std::string& body = "",
                   Mode mode = Mode::kCommit) {
    return ask(request(method, path, body, mode));
  }
  // Every reply has to be as the OpenAPI document has it.
  Result<json> ask(const ApiRequest& request) {
    Result<json> reply = router.handle(request);
    const Match match = find_route(request.method, request.path);
    const std::string schema = reply ? std::string(match.route->reply) : "Error";
    const json document = reply ? *reply : error_to_json(reply.error());
    EXPECT_EQ(why_invalid(schema, document), "") << request.path << "\n" << document.dump(2);
    return reply;
  }
  static ApiRequest request(const std::string& method, const std::string& path,
                            const std::string& body = "", Mode mode = Mode::kCommit) {
    ApiRequest made{method, path, body, mode};
    made.caller = root_caller();
    return made;
  }
  FakeBackends backend;
  Router router{backend.all(), backend.access};
};

TEST_F(RouterTest, CreatesListsAndRemoves) {
  const auto made = ask("POST", "/v1/networks", R"({"name": "nfs0", "device": "eth1"})");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)["done"][0], "network nfs0: created on eth1");
  const auto listed = ask("GET", "/v1/networks");
  ASSERT_TRUE(listed);
  EXPECT_EQ((*listed)["networks"][0]["device"], "eth1");
  EXPECT_TRUE(ask("DELETE", "/v1/networks/nfs0"));
  EXPECT_EQ(code_of(ask("DELETE", "/v1/networks/nfs0")), ErrorCode::kNotFound);
}

TEST_F(RouterTest, LocksAreFilteredByTheQuery) {
  ApiRequest wanted = request("GET", "/v1/locks");
  wanted.query = {{"client", "db1"}};
  EXPECT_EQ((*ask(wanted))["locks"][0]["client"], "db1");
  wanted.method = "DELETE";
  EXPECT_EQ((*ask(wanted))["done"][0], "clear db1");
  wanted.mode = Mode::kDryRun;
  EXPECT_EQ((*ask(wanted))["done"][0], "would clear db1");
  wanted.query = {{"clinet", "db1"}};
  EXPECT_EQ(code_of(ask(wanted)), ErrorCode::kInvalidArgument);
  wanted.method = "POST";
  EXPECT_EQ(code_of(ask(wanted)), ErrorCode::kNotSupported);
}

TEST_F(RouterTest, AScanOfDevicesTakesPathsOrNone) {
  EXPECT_EQ((*ask("POST", "/v1/lun-scan", R"({"paths": ["/dev/a"]})"))["devices"][0]["path"],
            "/dev/a");
  EXPECT_EQ((*ask("POST", "/v1/lun-scan", "{}"))["devices"], json::array());
  EXPECT_EQ(code_of(ask("POST", "/v1/lun-scan", R"({"path": "/dev/a"})")),
            ErrorCode::kInvalidArgument);
}

TEST_F(RouterTest, HeadsSayWhatTheySeeAndWhetherTheyServe) {
  backend.builder.lun("LUN0").lun("LUN1");
  records::HeadRecord head = backend.builder.view().heads.at("c1n1").record;
  head.add_luns(backend.builder.view().luns.at("LUN1").record.uuid());
  backend.builder.put(kv::keys::kHeads + std::string("c1n1"), head.SerializeAsString());
  const json seen = (*ask("GET", "/v1/heads"))["heads"][0];
  EXPECT_EQ(seen["luns"], json{"LUN1"});
  EXPECT_EQ(seen["state"], "serving");
}

TEST_F(RouterTest, DryRunReachesThePlan) {
  ASSERT_TRUE(ask("POST", "/v1/networks", R"({"name": "nfs0", "device": "eth1"})", Mode::kDryRun));
  EXPECT_TRUE(backend.builder.view().networks.empty());
}

TEST_F(RouterTest, BodiesAreStrict) {
  const auto refused = [&](const std::string& path, const std::string& body) {
    const auto answer = ask("POST", path, body);
    EXPECT_EQ(code_of(answer), ErrorCode::kInvalidArgument) << body;
    return answer ? "" : answer.error().message;
  };
  EXPECT_EQ(refused("/v1/networks", R"({"name": "n"})"), "network: 'device' is missing");
  EXPECT_EQ(refused("/v1/networks", R"({"name": "n", "device": "e", "mtuu": 1})"),
            "network: 'mtuu' is not known");
  EXPECT_EQ(refused("/v1/networks", R"({"name": 1, "device": "e"})"),
            "network: 'name' must be a string");
  EXPECT_EQ(refused("/v1/networks", R"({"name": "n", "device": "e", "mtu": -1})"),
            "network: 'mtu' must be a whole number");
  EXPECT_EQ(refused("/v1/volumes", R"({"name": "v", "luns": "LUN0", "stripe_unit_bytes": 65536})"),
            "volume: 'luns' must be a list of strings");
  EXPECT_EQ(refused("/v1/luns", R"({"luns": ["x"]})"),
            "lun: 'name' is missing: the request is not an object");
  refused("/v1/networks", "[]");
  refused("/v1/networks", "{");
}

TEST_F(RouterTest, UnknownPathsAreNotSupported) {
  for (const char* path :
       {"/", "/v1", "/v2/luns", "/v1/nothing", "/v1/vnfs/a/dance", "/v1/a/b/c/d"}) {
    EXPECT_EQ(code_of(ask("GET", path)), ErrorCode::kNotSupported) << path;
    EXPECT_EQ(code_of(ask("POST", path, "{}")), ErrorCode::kNotSupported) << path;
  }
  EXPECT_EQ(code_of(ask("PUT", "/v1/luns")), ErrorCode::kNotSupported);
}

TEST_F(RouterTest, ImportStopsAtTheFirstFailureAndSaysHowFarItCame) {
  const auto answer = ask("POST", "/v1/luns",
                          R"({"luns": [{"name": "A", "path": "/a", "force": true},
                                       {"name": "B", "path": "/bad"},
                                       {"name": "C", "path": "/c"}]})");
  EXPECT_EQ(code_of(answer), ErrorCode::kForeign);
  EXPECT_EQ(answer.error().message, "lun: foreign [1 LUNs named before it were imported]");
  EXPECT_EQ(backend.notes.all, std::vector<std::string>{"import A by force"});
}

TEST_F(RouterTest, FilesystemOptionsReachTheFormatter) {
  ASSERT_TRUE(
      ask("POST", "/v1/filesystems",
          R"({"name": "u04", "volume": "v1", "root_uid": 7, "root_gid": 8, "root_mode": 1023})"));
  EXPECT_EQ(backend.filesystems.formatted.root_uid, 7u);
  EXPECT_EQ(backend.filesystems.formatted.root_gid, 8u);
  EXPECT_EQ(backend.filesystems.formatted.root_mode, 01777u);
  EXPECT_EQ(code_of(ask("POST", "/v1/filesystems",
                        R"({"name": "u04", "volume": "v1", "root_mode": 4096})")),
            ErrorCode::kInvalidArgument);
}

TEST_F(RouterTest, WholeConfigurationAsDocuments) {
  backend.builder.basics().vnfs1().owner("vnfs1", "c1n1");
  EXPECT_EQ((*ask("GET", "/v1/luns"))["luns"][0]["volume"], "v1");
  const json volume = (*ask("GET", "/v1/volumes"))["volumes"][0];
  EXPECT_EQ(volume["luns"], json({"LUN0", "LUN1"}));
  EXPECT_EQ(volume["filesystems"], json({"u04"}));
  EXPECT_EQ((*ask("GET", "/v1/exports"))["exports"][0]["squash"], "root");
  EXPECT_EQ((*ask("GET", "/v1/filesystems"))["filesystems"][0]["exports"], json({"u04"}));
  EXPECT_EQ((*ask("GET", "/v1/heads"))["heads"][0]["address"], "10.99.0.1");
  const json vnfs = (*ask("GET", "/v1/vnfs"))["vnfs"][0];
  EXPECT_EQ(vnfs["owner"], "c1n1");
  EXPECT_EQ(vnfs["epoch"], 7);
  EXPECT_EQ(vnfs["wanted"], "started");
}

TEST_F(RouterTest, ExportsAreEdited) {
  backend.builder.basics().vnfs1();
  ASSERT_TRUE(ask("POST", "/v1/exports/u04/set", R"({"access": "ro", "pseudo": "/db"})"));
  const auto exported = [&] { return (*ask("GET", "/v1/exports"))["exports"][0]; };
  EXPECT_EQ(exported()["access"], "ro");
  EXPECT_EQ(exported()["pseudo"], "/db");
  EXPECT_EQ(exported()["squash"], "root");
  EXPECT_EQ(exported()["vnfs"], json({"vnfs1"}));
  EXPECT_EQ(code_of(ask("POST", "/v1/exports/u04/set", R"({"acces": "ro"})")),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(ask("POST", "/v1/exports/u04/add", R"({"vnfs": ["vnfs1"]})")),
            ErrorCode::kAlreadyExists);
  EXPECT_EQ(code_of(ask("POST", "/v1/exports/u04/take-off", R"({"vnfs": ["vnfs1"]})")),
            ErrorCode::kBusy);
  EXPECT_EQ(code_of(ask("POST", "/v1/exports/u04/take-off", R"({"vnfs": []})")),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(ask("DELETE", "/v1/exports/u04")), ErrorCode::kBusy);
}

TEST_F(RouterTest, HeadsAreInvitedAsEtcdMembersOnRequest) {
  EXPECT_EQ((*ask("POST", "/v1/heads", R"({"name": "c1n2", "address": "10.99.0.2"})"))["done"][0],
            "invited c1n2");
  EXPECT_EQ((*ask("POST", "/v1/heads",
                  R"({"name": "c1n2", "address": "10.99.0.2", "etcd_member": true})"))["done"][0],
            "invited c1n2 as a member");
  EXPECT_EQ((*ask("GET", "/v1/members"))["members"][0]["role"], "voter");
  ASSERT_TRUE(ask("DELETE", "/v1/members/c1n2"));
  EXPECT_EQ(backend.notes.all.back(), "remove etcd c1n2");
}

TEST_F(RouterTest, HeadsAreRemoved) {
  ASSERT_TRUE(ask("DELETE", "/v1/heads/c1n2"));
  EXPECT_EQ(backend.notes.all.back(), "remove head c1n2");
}

TEST_F(RouterTest, AHeadThatIsRemovedLosesItsCertificates) {
  EXPECT_EQ((*ask("DELETE", "/v1/heads/c1n2"))["done"].back(), "revoke c1n2");
  backend.access.revoked = fail(ErrorCode::kNotFound, "there is none");
  EXPECT_EQ((*ask("DELETE", "/v1/heads/c1n2"))["done"].size(), 1u) << "it had none";
  backend.access.revoked = fail(ErrorCode::kUnavailable, "etcd: away");
  EXPECT_EQ((*ask("DELETE", "/v1/heads/c1n2"))["done"].back(),
            "api certificate c1n2: not revoked: etcd: away (symnas api cert revoke c1n2)");
}

TEST_F(RouterTest, FencesAndShowsIt) {
  ASSERT_TRUE(ask("POST", "/v1/heads/c1n2/fence"));
  EXPECT_EQ(backend.notes.all.back(), "fence c1n2");
  records::FenceRecord fence;
  fence.set_by("c1n2");
  fence.set_state(records::FENCE_FAILED);
  fence.set_error("no switch");
  backend.builder.put(kv::keys::kFences + "c1n1", fence.SerializeAsString());
  const json head = (*ask("GET", "/v1/status"))["heads"][0];
  EXPECT_EQ(head["fence"]["state"], "failed");
  EXPECT_EQ(head["fence"]["error"], "no switch");
}

TEST_F(RouterTest, StopIsRecorded) {
  backend.builder.basics().vnfs1();
  ASSERT_TRUE(ask("POST", "/v1/vnfs/vnfs1/stop"));
  EXPECT_TRUE(backend.builder.view().vnfses.at("vnfs1").record.stopped());
  ASSERT_TRUE(ask("POST", "/v1/vnfs/vnfs1/start", "{}"));
  EXPECT_FALSE(backend.builder.view().vnfses.at("vnfs1").record.stopped());
}

TEST_F(RouterTest, StatusJoinsRecordsAndInstances) {
  backend.builder.basics().vnfs1();
  backend.builder.apply([](const ClusterView& v) {
    VnfsRequest r = ViewBuilder::vnfs();
    r.name = "vnfs2";
    r.vips = {"10.0.0.102/24"};
    return plan_vnfs_create(v, r);
  });
  const json status = *ask("GET", "/v1/status");
  EXPECT_EQ(status["cluster"]["name"], "lab");
  EXPECT_EQ(status["vnfs"][0]["state"], "serving");
  EXPECT_EQ(status["vnfs"][0]["instance"]["pid"], 42);
  EXPECT_EQ(status["vnfs"][1]["state"], "waiting");
}

TEST_F(RouterTest, StatusWithoutEtcdStillShowsThisHead) {
  backend.records.away = true;
  const json status = *ask("GET", "/v1/status");
  EXPECT_EQ(status["error"], "etcd: away");
  EXPECT_EQ(status["vnfs"][0]["name"], "vnfs1");
  EXPECT_EQ(status["vnfs"][0]["state"], "serving");
}

class PlacementRouterTest : public RouterTest {
 protected:
  // v1 on c1n1, v2 on c1n2, each the other one's backup.
  void SetUp() override {
    backend.builder.basics().head("c1n2", "10.99.0.2");
    for (const char* name : {"c1n1", "c1n2"}) {
      const ClusterView view = backend.builder.view();
      records::HeadRecord head = view.heads.at(name).record;
      for (const auto* lun : luns_of_volume(view, "v1")) head.add_luns(lun->uuid());
      head.set_luns_known(true);
      backend.builder.put(kv::keys::kHeads + name, head.SerializeAsString());
    }
    const auto made = ask("POST", "/v1/vnfs-sets",
                          R"({"prefix": "v", "vip_ranges": ["10.0.0.101/24@nfs0"],
                              "exports": ["u04"], "failback": "auto"})");
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ((*made)["done"].size(), 2u);
    backend.builder.owner("v1", "c1n1").owner("v2", "c1n2");
  }
  json placement() { return *ask("GET", "/v1/placement"); }
  void fence(const std::string& head, records::FenceState state) {
    records::FenceRecord fence;
    fence.set_incarnation("boot of " + head);
    fence.set_state(state);
    backend.builder.put(kv::keys::kFences + head, fence.SerializeAsString());
  }
};

TEST_F(PlacementRouterTest, ShowsWhoIsWhere) {
  const json seen = placement();
  EXPECT_EQ(seen["heads"], (json{{{"name", "c1n1"}, {"state", "serving"}},
                                 {{"name", "c1n2"}, {"state", "serving"}}}));
  EXPECT_EQ(seen["vnfs"][0]["places"], (json{{"c1n1", "*P"}, {"c1n2", "1"}}));
  EXPECT_EQ(seen["vnfs"][1]["places"], (json{{"c1n1", "1"}, {"c1n2", "*P"}}));
  EXPECT_EQ(seen["vnfs"][0]["state"], "serving");
  EXPECT_EQ(seen["vnfs"][0]["failback"], "auto");
  EXPECT_EQ(seen["vnfs"][0]["exports_problem"], "");
  records::ServedRecord served;
  served.set_epoch(7);
  backend.builder.put(kv::keys::kServed + "v1", served.SerializeAsString());
  EXPECT_NE(placement()["vnfs"][0]["exports_problem"], "");
}

TEST_F(PlacementRouterTest, ShowsWhatMovesWaitsOrIsHeld) {
  ASSERT_TRUE(ask("POST", "/v1/vnfs/v1/rehost", R"({"head": "c1n2"})"));
  EXPECT_EQ(placement()["vnfs"][0]["state"], "moving to c1n2");
  EXPECT_EQ(placement()["vnfs"][0]["pinned"], "c1n2");
  ASSERT_TRUE(ask("POST", "/v1/vnfs/v1/stay"));
  fence("c1n1", records::FENCE_RUNNING);
  EXPECT_EQ(placement()["vnfs"][0]["state"], "held");
  EXPECT_EQ(placement()["heads"][0]["state"], "fencing");
  fence("c1n1", records::FENCE_FAILED);
  EXPECT_EQ(placement()["vnfs"][0]["state"], "held");
  EXPECT_EQ(placement()["heads"][0]["state"], "unfenced");
  fence("c1n1", records::FENCE_DONE);
  kv::Txn ended;
  ended.success.push_back(kv::erase(kv::keys::kOwners + "v1"));
  ASSERT_TRUE(kv::txn_blocking(backend.builder.store, std::move(ended), kTestDeadlineMs));
  EXPECT_EQ(placement()["vnfs"][0]["state"], "waiting");
  EXPECT_EQ(placement()["vnfs"][0]["why"], "c1n2 is to serve it");
  EXPECT_EQ(placement()["heads"][0]["state"], "fenced");
  ASSERT_TRUE(ask("POST", "/v1/vnfs/v1/stop"));
  EXPECT_EQ(placement()["vnfs"][0]["state"], "stopped");
}

TEST_F(PlacementRouterTest, SaysWhoIsNotHeardAndWhyItIsNotFenced) {
  backend.status.silent = {{{"head", "c1n2"}, {"why", "nobody may fence it"}}};
  EXPECT_EQ(placement()["vnfs"][0]["state"], "serving");
  EXPECT_EQ(placement()["vnfs"][1]["state"], "unheard");
  EXPECT_EQ(placement()["vnfs"][1]["why"], "c1n2 is not heard: nobody may fence it");
}

TEST_F(PlacementRouterTest, DrainsAndSaysWhyWhatStays) {
  const auto dry = ask("POST", "/v1/heads/c1n1/drain", "", Mode::kDryRun);
  ASSERT_TRUE(dry);
  EXPECT_EQ((*dry)["done"], (json{"head c1n1: is being drained", "vnfs v1: goes to c1n2"}));
  EXPECT_EQ(placement()["heads"][0]["state"], "serving");
  ASSERT_TRUE(ask("POST", "/v1/heads/c1n1/drain"));
  EXPECT_EQ(placement()["heads"][0]["state"], "draining");
  EXPECT_EQ((*ask("GET", "/v1/heads"))["heads"][0]["draining"], true);
  fence("c1n2", records::FENCE_DONE);
  const std::string why = placement()["vnfs"][0]["why"];
  EXPECT_TRUE(why.starts_with("c1n2: it is fenced")) << why;
  ASSERT_TRUE(ask("POST", "/v1/heads/c1n1/undrain"));
  EXPECT_EQ(placement()["heads"][0]["state"], "serving");
  EXPECT_EQ(code_of(ask("POST", "/v1/heads/c1n9/drain")), ErrorCode::kNotFound);
}

TEST_F(PlacementRouterTest, FailsBackDistributesAndSetsThePolicy) {
  EXPECT_EQ((*ask("GET", "/v1/distribution"))["moves"], json::array());
  backend.builder.owner("v2", "c1n1");
  EXPECT_EQ((*ask("GET", "/v1/distribution"))["moves"],
            (json{{{"vnfs", "v2"}, {"from", "c1n1"}, {"to", "c1n2"}}}));
  ASSERT_TRUE(ask("POST", "/v1/vnfs/v2/rehost", R"({"head": "c1n2", "pin": false})"));
  EXPECT_EQ(placement()["vnfs"][1]["pinned"], "");
  ASSERT_TRUE(ask("POST", "/v1/vnfs/v2/stay"));
  ASSERT_TRUE(ask("POST", "/v1/vnfs/v2/failback"));
  EXPECT_EQ((*ask("GET", "/v1/vnfs"))["vnfs"][1]["move"]["to"], "c1n2");
  EXPECT_EQ((*ask("GET", "/v1/vnfs"))["vnfs"][1]["move"]["cause"], "administrator");
  ASSERT_TRUE(ask("POST", "/v1/vnfs/v2/set", R"({"failback": "manual"})"));
  EXPECT_EQ((*ask("GET", "/v1/vnfs"))["vnfs"][1]["failback"], "manual");
  EXPECT_EQ(code_of(ask("POST", "/v1/vnfs/v2/set", R"({"failback": "x"})")),
            ErrorCode::kInvalidArgument);
}

TEST_F(PlacementRouterTest, SaysWhyAVnfsMayOrMayNotRunOnAHead) {
  json seen = *ask("GET", "/v1/vnfs/v1/why/c1n1");
  EXPECT_EQ(seen["verdict"], "runs");
  EXPECT_EQ(seen["role"], "primary");
  EXPECT_EQ(seen["state"], "serving");
  EXPECT_EQ(seen["reasons"], json::array());
  seen = *ask("GET", "/v1/vnfs/v1/why/c1n2");
  EXPECT_EQ(seen["verdict"], "may");
  EXPECT_EQ(seen["role"], "backup 1");
  EXPECT_EQ(seen["standby"], "none");
  EXPECT_EQ(seen["owner"], "c1n1");
  EXPECT_EQ(seen["planned"],
            (json{{"head", "c1n1"}, {"reason", "stays"}, {"text", "it stays with c1n1"}}));
  EXPECT_EQ(seen["ways"][0], (json{{"kind", "rehost"},
                                   {"what", "an order moves it there"},
                                   {"next", "symnas vnfs rehost v1 c1n2"}}));
  ASSERT_TRUE(ask("POST", "/v1/heads/c1n2/drain"));
  seen = *ask("GET", "/v1/vnfs/v1/why/c1n2");
  EXPECT_EQ(seen["verdict"], "may_not");
  EXPECT_EQ(seen["reasons"], (json{{{"kind", "draining"},
                                    {"orders", "all"},
                                    {"why", "it is being drained"},
                                    {"next", "symnas head undrain c1n2"}}}));
  EXPECT_EQ(seen["ways"], json::array());
}

TEST_F(PlacementRouterTest, SaysThatAHeadThatMayTakeItIsNotHeard) {
  EXPECT_EQ((*ask("GET", "/v1/vnfs/v1/why/c1n2"))["notes"], json::array());
  backend.status.silent = {{{"head", "c1n2"}, {"why", "nobody may fence it"}}};
  EXPECT_EQ((*ask("GET", "/v1/vnfs/v1/why/c1n2"))["notes"][0],
            "c1n1 does not hear it, so it may not answer: nobody may fence it (symnas status)");
}

TEST_F(PlacementRouterTest, SaysWhereToLookForWhatItDoesNotKnow) {
  const auto message = [&](const std::string& path) {
    const auto answer = ask("GET", path);
    EXPECT_EQ(code_of(answer), ErrorCode::kNotFound) << path;
    return answer ? "" : answer.error().message;
  };
  EXPECT_EQ(message("/v1/vnfs/nobody/why/c1n1"),
            "vnfs nobody: does not exist (symnas vnfs ls shows what does)");
  EXPECT_EQ(message("/v1/vnfs/v1/why/c1n9"),
            "head c1n9: does not exist (symnas head ls shows what does)");
  backend.builder.put(kv::keys::kRemoved + "c1n9",
                      records::RemovedHeadRecord().SerializeAsString());
  const json seen = *ask("GET", "/v1/vnfs/v1/why/c1n9");
  EXPECT_EQ(seen["verdict"], "may_not");
  EXPECT_EQ(seen["role"], "none of its heads");
  EXPECT_EQ(seen["reasons"].size(), 2u);
  EXPECT_EQ(code_of(ask("POST", "/v1/vnfs/v1/why/c1n1", "{}")), ErrorCode::kNotSupported);
  EXPECT_EQ(code_of(ask("GET", "/v1/vnfs/v1/why")), ErrorCode::kNotSupported);
}

TEST_F(PlacementRouterTest, WithoutEtcdNothingCanMove) {
  backend.records.away = true;
  for (const char* path : {"/v1/placement", "/v1/distribution", "/v1/vnfs/v1/why/c1n1"}) {
    const auto answer = ask("GET", path);
    ASSERT_EQ(code_of(answer), ErrorCode::kUnavailable) << path;
    EXPECT_NE(answer.error().message.find("nothing can move now"), std::string::npos);
    EXPECT_NE(answer.error().message.find("etcd: away"), std::string::npos);
  }
}

TEST_F(RouterTest, LooksIntoFilesystems) {
  EXPECT_EQ((*ask("POST", "/v1/filesystems/u04/check", "{}"))["filesystem"], "u04");
  EXPECT_EQ((*ask("POST", "/v1/filesystems/u04/dump", R"({"path": "/a"})"))["symlink_target"],
            "/a");
  EXPECT_EQ((*ask("POST", "/v1/filesystems/u04/dump", R"({"ino": 17})"))["ino"], 17);
  EXPECT_TRUE(ask("GET", "/v1/capacity"));
  for (const char* body : {"{}", R"({"path": "/a", "ino": 17})", R"({"ino": "x"})"})
    EXPECT_EQ(code_of(ask("POST", "/v1/filesystems/u04/dump", body)), ErrorCode::kInvalidArgument)
        << body;
}

TEST_F(RouterTest, ConsentAndRevisionReachTheBackend) {
  ApiRequest removal = request("DELETE", "/v1/vnfs/v1");
  removal.consent = Consent::kYes;
  EXPECT_EQ(code_of(ask(removal)), ErrorCode::kNotFound);
  EXPECT_EQ(backend.notes.all, std::vector<std::string>{"remove by consent v1"});
  ApiRequest events = request("GET", "/v1/events");
  events.after = Revision(7);
  const auto page = ask(events);
  ASSERT_TRUE(page);
  EXPECT_EQ((*page)["revision"], 7);
}

}  // namespace
}  // namespace symnas::vnfsd::api

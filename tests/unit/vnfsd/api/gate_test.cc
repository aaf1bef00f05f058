#include "vnfsd/api/gate.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/api/fake_backends.h"
#include "vnfsd/api/form.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

class GateTest : public ::testing::Test {
 protected:
  HttpRequest request(const std::string& method, const std::string& path,
                      const std::string& body = "") {
    HttpRequest made;
    made.method = method;
    made.target = made.path = path;
    made.body = body;
    made.headers = {{gate_header::kToken, "Bearer secret"},
                    {gate_header::kAddress, "10.1.2.3"},
                    {gate_header::kCertificate, "print"},
                    {gate_header::kSerial, "01"}};
    if (!body.empty()) {
      made.headers["content-type"] = "application/json";
      made.headers["content-length"] = std::to_string(body.size());
    }
    return made;
  }
  FakeBackends backend;
  Router router{backend.all(), backend.access};
  env::ManualClock clock;
  Gate gate{router, backend.access, {{"10.99.0.1"}, 20492, 64, {2, 3}}, clock};
};

constexpr const char* kNetwork = R"({"name": "nfs0", "device": "eth1"})";

TEST_F(GateTest, TheTokensRoleDecides) {
  EXPECT_EQ(gate.answer(request("GET", "/v1/networks")).status, 200);
  const HttpReply refused = gate.answer(request("POST", "/v1/networks", kNetwork));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(json::parse(refused.body)["error"]["code"], "permission");
  EXPECT_TRUE(backend.records.view()->networks.empty());
  ASSERT_EQ(backend.access.entries.size(), 1u);
  const AuditEntry& entry = backend.access.entries[0];
  EXPECT_EQ(entry.caller.name, "ops");
  EXPECT_EQ(entry.caller.from, "10.1.2.3");
  EXPECT_EQ(entry.caller.certificate, "laptop");
  EXPECT_EQ(entry.outcome, "permission");
  backend.access.role = Role::kAdmin;
  EXPECT_EQ(gate.answer(request("POST", "/v1/networks", kNetwork)).status, 200);
  EXPECT_EQ(backend.access.entries[1].outcome, "done");
  EXPECT_EQ(backend.access.entries[1].text, "network nfs0: created on eth1");
}

TEST_F(GateTest, SymnasApidAloneGetsNothing) {
  HttpRequest none = request("GET", "/v1/status");
  none.headers.erase(gate_header::kToken);
  EXPECT_EQ(gate.answer(none).status, 401);
  HttpRequest stranger = request("GET", "/v1/status");
  stranger.headers[gate_header::kCertificate] = "another";
  EXPECT_EQ(gate.answer(stranger).status, 401);
  HttpRequest from_nowhere = request("GET", "/v1/status");
  from_nowhere.headers[gate_header::kAddress] = "";  // would be root's socket
  EXPECT_EQ(gate.answer(from_nowhere).status, 400);
  EXPECT_TRUE(backend.access.entries.empty());
}

TEST_F(GateTest, WhatGivesOutKeysIsNotForTheNetwork) {
  backend.access.role = Role::kAdmin;
  const std::pair<const char*, const char*> refused[] = {
      {"/v1/heads", R"({"name": "c1n9", "address": "10.99.0.9"})"},
      {"/v1/api-tokens", R"({"name": "t", "role": "admin"})"},
      {"/v1/api-certificates", R"({"name": "t", "request": "PEM"})"}};
  for (const auto& [path, body] : refused) {
    clock.advance_ns(10'000'000'000);
    EXPECT_EQ(gate.answer(request("POST", path, body)).status, 403) << path;
  }
  EXPECT_EQ(backend.access.entries.size(), 3u);
  EXPECT_EQ(gate.answer(request("DELETE", "/v1/api-tokens/t")).status, 200);
}

TEST_F(GateTest, WithoutEtcdNobodyIsKnown) {
  backend.access.away = true;
  EXPECT_EQ(gate.answer(request("GET", "/v1/status")).status, 503);
}

TEST_F(GateTest, EachTokenHasItsRate) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(gate.answer(request("GET", "/v1/status")).status, 200);
  const HttpReply refused = gate.answer(request("GET", "/v1/status"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.at("Retry-After"), "1");
  clock.advance_ns(1'000'000'000);
  EXPECT_EQ(gate.answer(request("GET", "/v1/status")).status, 200);
}

TEST_F(GateTest, TellsSymnasApidItsWork) {
  HttpRequest ask = request("GET", kListenerPath);
  ask.headers.clear();
  const HttpReply reply = gate.answer(ask);
  ASSERT_EQ(reply.status, 200);
  const json terms = json::parse(reply.body);
  EXPECT_EQ(terms["addresses"], json{"10.99.0.1"});
  EXPECT_EQ(terms["port"], 20492);
  EXPECT_EQ(terms["authority"], "PEM");
}

TEST_F(GateTest, OneTokenHasAPartOfTheRequests) {
  backend.access.role = Role::kAdmin;
  std::size_t deep = 0;
  HttpReply innermost;
  std::optional<HttpReply> of_another;
  backend.access.on_audit = [&] {
    ++deep;
    clock.advance_ns(1'000'000'000);  // so that its rate is not what stops it
    innermost = gate.answer(request("GET", "/v1/audit"));
    if (of_another) return;
    backend.access.token_name = "other";
    backend.access.on_audit = nullptr;
    of_another = gate.answer(request("GET", "/v1/audit"));
  };
  EXPECT_EQ(gate.answer(request("GET", "/v1/audit")).status, 200);
  EXPECT_EQ(deep, kTokenRequestsMax);
  EXPECT_EQ(of_another->status, 200);
  backend.access.token_name = "ops";
  EXPECT_EQ(gate.answer(request("GET", "/v1/audit")).status, 200) << "they have ended";
}

TEST_F(GateTest, OneTokenHasAPartOfTheStreams) {
  backend.access.role = Role::kOperator;
  const auto follow = [&](const std::string& probe = "") {
    clock.advance_ns(1'000'000'000);
    HttpRequest made = request("GET", kFollowPath);
    made.headers[gate_header::kProbe] = probe;
    return gate.answer(made);
  };
  std::vector<HttpReply> held;
  for (std::size_t i = 0; i < kTokenFollowersMax; ++i) {
    EXPECT_EQ(follow("1").status, 200) << "a probe holds nothing";
    held.push_back(follow());
    EXPECT_EQ(held.back().status, 200);
  }
  for (const char* probe : {"1", ""}) {
    const HttpReply refused = follow(probe);
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(json::parse(refused.body)["error"]["message"],
              "API: this token has 2 event streams under way on this head already: try again when "
              "one of them has ended, or ask another head");
    EXPECT_EQ(refused.headers.at("Retry-After"), "1");
  }
  EXPECT_EQ(gate.answer(request("GET", "/v1/status")).status, 200) << "it may still ask";
  backend.access.token_name = "other";
  EXPECT_EQ(follow().status, 200);
  backend.access.token_name = "ops";
  held.pop_back();
  EXPECT_EQ(follow().status, 200);
}

}  // namespace
}  // namespace symnas::vnfsd::api

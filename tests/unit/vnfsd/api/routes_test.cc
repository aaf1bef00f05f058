#include "vnfsd/api/routes.h"

#include <algorithm>
#include <array>
#include <set>

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/api/fake_backends.h"
#include "vnfsd/api/router.h"

namespace symnas::vnfsd::api {
namespace {

TEST(Routes, EachOperationHasItsOwnNameAndSaysWhatItIs) {
  std::set<std::string_view> names;
  for (const Route& route : all_routes()) {
    EXPECT_TRUE(names.insert(route.operation).second) << route.operation;
    EXPECT_TRUE(route.summary.ends_with('.')) << route.operation;
    EXPECT_FALSE(route.reply.empty()) << route.operation;
    ASSERT_NE(route.handler, nullptr) << route.operation;
  }
}

TEST(Routes, NamesOfThePathAreFound) {
  const Match match = find_route("GET", "/v1/vnfs/v1/why/c1n2");
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.route->operation, "explainVnfs");
  EXPECT_EQ(match.names, (std::vector<std::string>{"v1", "c1n2"}));
  EXPECT_EQ(find_route("POST", "/v1/vnfs/v1/why/c1n2").route, nullptr);
  EXPECT_EQ(find_route("GET", "/v1/vnfs/v1/why").route, nullptr);
}

constexpr std::array kVerbsOfAdmins = {"create", "remove", "fence", "invite", "clear", "import"};

TEST(Routes, WhatChangesIsNotForViewersAndWhatMakesOrRemovesIsForAdmins) {
  for (const Route& route : all_routes()) {
    const bool changes = route.query.find("dry_run") != std::string_view::npos;
    EXPECT_TRUE(!changes || route.role >= Role::kOperator) << route.operation;
    const bool is_for_admins =
        route.method == "DELETE" ||
        std::any_of(kVerbsOfAdmins.begin(), kVerbsOfAdmins.end(),
                    [&](const char* verb) { return route.operation.starts_with(verb); });
    EXPECT_TRUE(!is_for_admins || route.role == Role::kAdmin) << route.operation;
  }
}

TEST(Routes, ACallerBelowTheRoleIsRefusedBeforeAnythingIsDone) {
  FakeBackends backend;
  Router router(backend.all(), backend.access);
  ApiRequest request{"POST", "/v1/heads/c1n2/fence", ""};
  for (const Role role : {Role::kViewer, Role::kOperator}) {
    request.caller = {"alice", role};
    const auto refused = router.handle(request);
    ASSERT_EQ(code_of(refused), ErrorCode::kPermission);
    EXPECT_EQ(refused.error().message,
              "API: POST /v1/heads/c1n2/fence: is for the role admin; alice has the role " +
                  std::string(name_of(role)));
  }
  EXPECT_TRUE(backend.notes.all.empty());
  request.caller = {"alice", Role::kAdmin};
  EXPECT_TRUE(router.handle(request));
  EXPECT_EQ(backend.notes.all.size(), 1u);
  ApiRequest nobody{"GET", "/v1/heads", ""};
  EXPECT_TRUE(router.handle(nobody));
}

TEST(Routes, RolesHaveNames) {
  for (const Role role : {Role::kViewer, Role::kOperator, Role::kAdmin})
    EXPECT_EQ(parse_role(name_of(role)), role);
  EXPECT_EQ(parse_role("root"), std::nullopt);
}

}  // namespace
}  // namespace symnas::vnfsd::api

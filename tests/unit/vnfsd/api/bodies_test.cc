// What body.h takes, and the schemas of bodies, say the same: every body is tried with each member
// missing, of a wrong type, and with one that nobody knows.
#include "vnfsd/api/body.h"

#include <functional>

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/api/fake_backends.h"
#include "tests/unit/vnfsd/api/reply_check.h"
#include "tests/unit/vnfsd/api/schema_samples.h"
#include "vnfsd/api/router.h"
#include "vnfsd/api/routes.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

class BodiesTest : public ::testing::Test {
 protected:
  // What body.h says about a member of the body; "": nothing.
  std::string complaint(const Route& route, const json& body) {
    std::string path(route.path);
    if (const auto at = path.find("{name}"); at != std::string::npos) path.replace(at, 6, "x");
    ApiRequest request{"POST", path, body.dump()};
    request.caller = root_caller();
    const auto reply = router.handle(request);
    if (reply) return "";
    for (const char* why : {"' is missing", "' is not known", "' must be"})
      if (reply.error().message.find(why) != std::string::npos) return reply.error().message;
    return "";
  }

  // `whole`: makes the body of a document of that schema.
  void compare(const Route& route, const std::string& schema,
               const std::function<json(const json&)>& whole) {
    const auto says = [&](const json& body, const std::string& what) {
      EXPECT_NE(complaint(route, whole(body)).find(what), std::string::npos)
          << route.path << " " << body << ": should say: " << what;
      EXPECT_NE(why_invalid(schema, body), "") << route.path << " " << body;
    };
    const json needed = sample_of(schema);
    const json all = sample_of(schema, Members::kAll);
    for (const json& body : {needed, all}) {
      EXPECT_EQ(complaint(route, whole(body)), "") << route.path << " " << body;
      EXPECT_EQ(why_invalid(schema, body), "") << route.path << " " << body;
    }
    for (const auto& [name, value] : all.items()) {
      json wrong = all;
      wrong[name] = json{{"an", "object"}};
      says(wrong, "'" + name + "' must be");
      if (!needed.contains(name)) continue;
      json without = all;
      without.erase(name);
      says(without, "'" + name + "' is missing");
    }
    json unknown = all;
    unknown["surprise"] = 1;
    says(unknown, "'surprise' is not known");
  }

  FakeBackends backend;
  Router router{backend.all(), backend.access};
};

TEST_F(BodiesTest, AreReadAsTheirSchemasSay) {
  for (const Route& route : all_routes()) {
    if (!route.body.empty())
      compare(route, std::string(route.body), [](const json& body) { return body; });
    if (route.body == "LunImport")
      compare(route, "LunToImport", [](const json& lun) {
        return json{{"luns", json::array({lun})}};
      });
  }
}

TEST_F(BodiesTest, AreNotNestedWithoutEnd) {
  for (const std::size_t depth : {std::size_t{20}, std::size_t{500'000}}) {
    ApiRequest request{"POST", "/v1/networks",
                       R"({"name": )" + std::string(depth, '[') + std::string(depth, ']') + "}"};
    request.caller = root_caller();
    const auto refused = router.handle(request);
    ASSERT_EQ(code_of(refused), ErrorCode::kInvalidArgument);
    EXPECT_NE(refused.error().message.find("nested more than 16 deep"), std::string::npos);
  }
}

TEST_F(BodiesTest, ARequestWithoutABodyTakesNoMembers) {
  for (const Route& route : all_routes()) {
    if (route.method != "POST" || !route.body.empty()) continue;
    std::string path(route.path);
    if (const auto at = path.find("{name}"); at != std::string::npos) path.replace(at, 6, "x");
    ApiRequest request{"POST", path, R"({"surprise": 1})"};
    request.caller = root_caller();
    EXPECT_EQ(code_of(router.handle(request)), ErrorCode::kInvalidArgument) << path;
  }
  EXPECT_TRUE(backend.notes.all.empty());
}

}  // namespace
}  // namespace symnas::vnfsd::api

#include "vnfsd/api/audit.h"

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/api/fake_backends.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

class AuditTest : public ::testing::Test {
 protected:
  ApiRequest request{"DELETE", "/v1/locks", "a secret"};
  FakeAccess access;
};

TEST_F(AuditTest, HasTheOutcomeAndTheQueryButNoBody) {
  request.query = {{"vnfs", "v1"}, {"yes", "true"}, {"dry_run", "false"}};
  note_in_audit(access, request, json{{"done", {"one", "two"}}, {"token", "a secret"}});
  ASSERT_EQ(access.entries.size(), 1u);
  EXPECT_EQ(access.entries[0].path, "/v1/locks?vnfs=v1&yes=true");
  EXPECT_EQ(access.entries[0].outcome, "done");
  EXPECT_EQ(access.entries[0].text, "one; two");
}

TEST_F(AuditTest, ReadingIsNoEntryUnlessItIsRefused) {
  request.method = "GET";
  note_in_audit(access, request, json::object());
  note_in_audit(access, request, fail(ErrorCode::kNotFound, "nothing"));
  EXPECT_TRUE(access.entries.empty());
  note_in_audit(access, request, fail(ErrorCode::kPermission, "not you"));
  ASSERT_EQ(access.entries.size(), 1u);
  EXPECT_EQ(access.entries[0].outcome, "permission");
}

TEST_F(AuditTest, DryRunsAndErrorsAreEntries) {
  request.mode = Mode::kDryRun;
  note_in_audit(access, request, json{{"done", {"would"}}});
  note_in_audit(access, request, fail(ErrorCode::kConflict, "changed"));
  ASSERT_EQ(access.entries.size(), 2u);
  EXPECT_EQ(access.entries[0].outcome, "dry-run");
  EXPECT_EQ(access.entries[1].outcome, "conflict");
  EXPECT_EQ(access.entries[1].text, "changed");
}

}  // namespace
}  // namespace symnas::vnfsd::api

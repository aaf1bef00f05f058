#include "vnfsd/api/request.h"

#include "tests/unit/vnfsd/api/fake_backends.h"
#include "vnfsd/api/router.h"

namespace symnas::vnfsd::api {
namespace {

Result<ApiRequest> read(const std::multimap<std::string, std::string>& parameters) {
  return request_of("DELETE", "/v1/luns/LUN0", "", parameters);
}

TEST(Request, ParametersAreRead) {
  const auto request = read({{"dry_run", "true"}, {"yes", "true"}, {"after", "7"}});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->mode, Mode::kDryRun);
  EXPECT_EQ(request->consent, Consent::kYes);
  EXPECT_EQ(request->after, Revision(7));
  EXPECT_EQ(request->caller.role, Role::kViewer);
  EXPECT_EQ(read({{"dry_run", "false"}})->mode, Mode::kCommit);
}

TEST(Request, ValuesAreStrict) {
  for (const char* value : {"", "1", "True", "yes", "true "})
    EXPECT_EQ(code_of(read({{"dry_run", value}})), ErrorCode::kInvalidArgument) << value;
  for (const char* value : {"", "-1", "x", "7x", "99999999999999999999"})
    EXPECT_EQ(code_of(read({{"after", value}})), ErrorCode::kInvalidArgument) << value;
  EXPECT_EQ(code_of(read({{"dry_run", "true"}, {"dry_run", "false"}})),
            ErrorCode::kInvalidArgument);
}

// A dry run that is misspelt, or that the request does not know, must not become a change.
TEST(Request, UnknownParametersAreRefused) {
  FakeBackends backend;
  Router router(backend.all(), backend.access);
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"dryrun", "true"}, {"yes", "true"}, {"\n", "x"}}) {
    auto request = read({{name, value}});
    ASSERT_TRUE(request);
    request->caller = root_caller();
    const auto refused = router.handle(*request);
    ASSERT_EQ(code_of(refused), ErrorCode::kInvalidArgument) << name;
    EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
  }
  EXPECT_TRUE(backend.notes.all.empty());
}

}  // namespace
}  // namespace symnas::vnfsd::api

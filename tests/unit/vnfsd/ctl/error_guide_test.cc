#include "vnfsd/ctl/error_guide.h"

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "vnfsd/ctl/exit_code.h"

namespace symnas::vnfsd::ctl {
namespace {

TEST(ErrorGuide, HasEveryCodeOnce) {
  const auto& guides = code_guides();
  ASSERT_EQ(guides.size(), static_cast<std::size_t>(ErrorCode::kInternal) + 1);
  for (std::size_t i = 0; i < guides.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(guides[i].code), i);
    EXPECT_FALSE(guides[i].meaning.empty());
    EXPECT_FALSE(guides[i].next.empty());
  }
}

TEST(ErrorGuide, HasEveryExitCode) {
  ASSERT_EQ(exit_guides().size(), static_cast<std::size_t>(kExitFindings) + 1);
  for (int status = 0; status <= kExitFindings; ++status) {
    EXPECT_EQ(exit_guides()[static_cast<std::size_t>(status)].status, status);
    EXPECT_TRUE(explain_code(std::to_string(status)));
  }
}

TEST(ErrorGuide, ExplainsACode) {
  const auto text = explain_code("not_found");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("not_found (exit code 3)"), std::string::npos);
  EXPECT_NE(text->find("next: "), std::string::npos);
  EXPECT_NE(explain_code("4")->find("already_exists, conflict, busy, not_empty"),
            std::string::npos);
}

TEST(ErrorGuide, SaysWhatWasMeant) {
  const auto text = explain_code("notfound");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kNotFound);
  EXPECT_NE(text.error().message.find("did you mean not_found?"), std::string::npos);
  EXPECT_FALSE(explain_code("99"));
}

// If this fails: the tables of the page are to be those of guide_as_markdown(), which is printed.
TEST(ErrorGuide, ThePageHasTheSameTables) {
  std::ifstream file(SYMNAS_DOCS "/operations/errors.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_NE(page.str().find(guide_as_markdown()), std::string::npos) << guide_as_markdown();
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

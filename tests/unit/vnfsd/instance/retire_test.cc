#include "vnfsd/instance/retire.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::instance {
namespace {

// What is not said by the instance itself leaves it open what it has done.
TEST(Answer, OnlyAnErrorThatItSaysIsARefusal) {
  EXPECT_EQ((*answer_of(R"({"exports": 2})"))["exports"], 2);
  const auto refused = answer_of(R"({"error": "no such directory"})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.error().message, "no such directory");
  EXPECT_EQ(answer_of(R"({"error": 5})").error().code, ErrorCode::kInvalidArgument);
  for (const char* line : {"", "{", "[]", "2"})
    EXPECT_EQ(answer_of(line).error().code, ErrorCode::kCorrupt) << line;
}

}  // namespace
}  // namespace symnas::vnfsd::instance

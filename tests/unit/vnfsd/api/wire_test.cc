#include "vnfsd/api/wire.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::api {
namespace {

TEST(Wire, EveryCodeComesBack) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const Error error{static_cast<ErrorCode>(code), "text"};
    const Error again = error_from_json(error_to_json(error));
    EXPECT_EQ(again.code, error.code);
    EXPECT_EQ(again.message, "text");
    EXPECT_GE(http_status(error.code), 400);
  }
}

TEST(Wire, NonsenseIsInternal) {
  EXPECT_EQ(error_from_json(nlohmann::json::object()).code, ErrorCode::kInternal);
  EXPECT_EQ(error_from_json({{"error", "x"}}).code, ErrorCode::kInternal);
  EXPECT_EQ(error_from_json({{"error", {{"code", "moon"}}}}).code, ErrorCode::kInternal);
}

}  // namespace
}  // namespace symnas::vnfsd::api

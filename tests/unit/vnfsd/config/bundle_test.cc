#include "vnfsd/config/bundle.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd {
namespace {

TEST(Bundle, ReadsBackWhatWasWritten) {
  Bundle bundle{"lab",
                *Uuid::parse("00112233-4455-6677-8899-aabbccddeeff"),
                "c1n2",
                "10.99.0.2",
                {"https://10.99.0.1:2379"},
                {"c1n1=https://10.99.0.1:2380"},
                "CA",
                "CERT",
                "KEY",
                std::int64_t{3} << 30,
                "admitted"};
  const auto again = bundle_from_json(bundle_to_json(bundle));
  ASSERT_TRUE(again);
  EXPECT_EQ(bundle_to_json(*again), bundle_to_json(bundle));
  EXPECT_EQ(again->key_pem, "KEY");
  EXPECT_EQ(again->admission, "admitted");
  EXPECT_EQ(again->quota_bytes, std::int64_t{3} << 30);
}

TEST(Bundle, RefusesWhatIsNone) {
  using nlohmann::json;
  EXPECT_EQ(bundle_from_json(json()).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(bundle_from_json(json::parse("{", nullptr, false)).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(bundle_from_json({{"symnas_bundle", 2}}).error().code, ErrorCode::kNotSupported);
  EXPECT_EQ(bundle_from_json({{"symnas_bundle", 1}}).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace symnas::vnfsd

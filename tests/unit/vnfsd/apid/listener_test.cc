#include "vnfsd/apid/listener.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::apid {
namespace {

TEST(Listener, TermsAreReadStrictly) {
  nlohmann::json document = {{"addresses", {"10.99.0.1"}}, {"port", 20492},
                             {"connections_max", 64},      {"requests_per_s", 20},
                             {"requests_burst", 60},       {"authority", "PEM"}};
  const auto terms = terms_from_json(document.dump());
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->addresses, std::vector<std::string>{"10.99.0.1"});
  EXPECT_EQ(terms->rate.burst, 60);
  document.erase("authority");
  EXPECT_FALSE(terms_from_json(document.dump()));
  EXPECT_FALSE(terms_from_json("not JSON"));
}

}  // namespace
}  // namespace symnas::vnfsd::apid

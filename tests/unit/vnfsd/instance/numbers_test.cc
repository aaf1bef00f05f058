#include "vnfsd/instance/numbers.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::vnfsd::instance {
namespace {

// As docs/formats/instance_control.md describes it.
nlohmann::json answer() {
  return {{"gate_closings", 1},      {"tokens_held", 2},
          {"tokens_granted", 3},     {"token_waits", 4},
          {"tokens_given_back", 5},  {"quota_refusals", 11},
          {"lock_ranges", 6},        {"etcd_times_us", {1000, 2500}},
          {"etcd_tries", {7, 8, 9}}, {"etcd_sum_us", 1'500'000},
          {"etcd_failures", 10}};
}

TEST(InstanceNumbers, AreWhatTheInstanceSays) {
  const auto numbers = parse_numbers(answer());
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->gate_closings, 1u);
  EXPECT_EQ(numbers->tokens_held, 2);
  EXPECT_EQ(numbers->quota_refusals, 11u);
  EXPECT_EQ(numbers->lock_ranges, 6);
  EXPECT_EQ(numbers->etcd_bounds_s, (std::vector<double>{0.001, 0.0025}));
  EXPECT_EQ(numbers->etcd_tries, (std::vector<std::uint64_t>{7, 8, 9}));
  EXPECT_EQ(numbers->etcd_sum_s, 1.5);
}

TEST(InstanceNumbers, WhatCannotBeReadIsCorrupt) {
  for (const char* missing : {"gate_closings", "etcd_tries", "etcd_sum_us"}) {
    nlohmann::json document = answer();
    document.erase(missing);
    EXPECT_EQ(parse_numbers(document).error().code, ErrorCode::kCorrupt) << missing;
  }
  nlohmann::json document = answer();
  document["etcd_tries"] = {7, 8};
  EXPECT_EQ(parse_numbers(document).error().code, ErrorCode::kCorrupt);
  document["etcd_tries"] = "many";
  EXPECT_EQ(parse_numbers(document).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace symnas::vnfsd::instance

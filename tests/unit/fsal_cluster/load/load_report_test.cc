#include "fsal_cluster/load/load_report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace symnas::fs {
namespace {

using nlohmann::json;

constexpr NfsOperation kRead{NfsProtocol::kNfs3, 6};
constexpr NfsOperation kWrite{NfsProtocol::kNfs4, 38};

LoadReport sample() {
  LoadReport report;
  report.rows.push_back({"10.0.0.1", 7, 3, {{kRead, {5, 1, 4096, 0, 900, 400}}}});
  report.others[7][kWrite] = {2, 0, 0, 100, 50, 30};
  report.times[{7, kRead}] = {4, 0, 1};
  return report;
}

TEST(LoadReport, TextIsAsDescribed) {
  EXPECT_EQ(load_document(sample()), json::parse(R"({
    "rows": [{"client": "10.0.0.1", "export": 7, "serial": 3,
              "operations": {"nfs3.READ": [5, 1, 4096, 0, 900, 400]}}],
    "others": [{"export": 7, "operations": {"nfs4.WRITE": [2, 0, 0, 100, 50, 30]}}],
    "times": [{"export": 7, "operation": "nfs3.READ",
               "requests": [4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]}]})"));
}

TEST(LoadReport, IsReadAgain) {
  const auto again = parse_load(load_document(sample()));
  ASSERT_TRUE(again);
  EXPECT_EQ(load_document(*again), load_document(sample()));
}

TEST(LoadReport, UnknownOperationsAreLeftOut) {
  json document = load_document(sample());
  document["rows"][0]["operations"]["nfs9.THINK"] = {1, 0, 0, 0, 0, 0};
  const auto again = parse_load(document);
  ASSERT_TRUE(again);
  EXPECT_EQ(load_document(*again), load_document(sample()));
}

TEST(LoadReport, WhatIsNoReportIsRefused) {
  for (const char* text : {"[]", "{}", R"({"rows": [1], "others": [], "times": []})",
                           R"({"rows": [], "others": [], "times": 3})"}) {
    const auto report = parse_load(json::parse(text));
    ASSERT_FALSE(report) << text;
    EXPECT_EQ(report.error().code, ErrorCode::kCorrupt);
  }
}

TEST(LoadCounters, SinceIsTheDifference) {
  const LoadCounters before{5, 1, 100, 200, 1000, 400};
  LoadCounters now = before;
  now.add({2, 1, 10, 20, 500, 450});
  EXPECT_EQ(now.since(before), (LoadCounters{2, 1, 10, 20, 500, 450}));
}

}  // namespace
}  // namespace symnas::fs

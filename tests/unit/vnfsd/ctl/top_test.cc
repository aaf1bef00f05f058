// symnas top: what is asked, added up and shown.
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/ctl/recording_client.h"
#include "vnfsd/ctl/exit_code.h"
#include "vnfsd/ctl/run.h"
#include "vnfsd/ctl/top_rows.h"

namespace symnas::vnfsd::ctl {
namespace {

using nlohmann::json;

json row(const std::string& client, const std::string& operation, double requests, double read,
         std::uint64_t mean_us) {
  return {{"vnfs", "vnfs1"},
          {"head", "c1n1"},
          {"client", client},
          {"export", "u04"},
          {"protocol", "nfs3"},
          {"operation", operation},
          {"requests_per_s", requests},
          {"errors_per_s", 0.0},
          {"read_bytes_per_s", read},
          {"written_bytes_per_s", 0.0},
          {"mean_us", mean_us},
          {"worst_us", 5 * mean_us}};
}

json sample() {
  return {{"vnfses", {{{"vnfs", "vnfs1"}, {"head", "c1n1"}, {"span_ms", 3000}}}},
          {"rows",
           {row("10.0.0.7", "GETATTR", 100, 0, 50), row("10.0.0.7", "READ", 100, 4e6, 150),
            row("10.0.0.8", "READ", 50, 12e6, 2000)}},
          {"missing", json::array()}};
}

class TopTest : public ::testing::Test {
 protected:
  int run(const std::vector<std::string>& arguments) {
    return run_symnas(
        arguments,
        [&](const std::string&) { return std::make_unique<RecordingClient>(asked, answer); }, out,
        err);
  }
  // Without the line that begins with the time.
  std::string table() { return out.str().substr(out.str().find('\n') + 1); }

  std::vector<std::string> asked;
  json answer = sample();
  std::ostringstream out, err;
};

TEST(TopRows, AddUpByClient) {
  const json rows = top_rows(sample(), {"client"}, TopOrder::kRequests);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["client"], "10.0.0.7");
  EXPECT_EQ(rows[0]["requests_per_s"], 200.0);
  EXPECT_EQ(rows[0]["mean_us"], 100u);
  EXPECT_EQ(rows[0]["worst_us"], 750u);
  EXPECT_EQ(rows[0]["requests_share"], 0.8);
  EXPECT_EQ(rows[0]["bytes_share"], 0.25);
  EXPECT_FALSE(rows[0].contains("operation"));
}

TEST(TopRows, AreSorted) {
  EXPECT_EQ(top_rows(sample(), {"client"}, TopOrder::kBytes)[0]["client"], "10.0.0.8");
  EXPECT_EQ(top_rows(sample(), {"client"}, TopOrder::kLatency)[0]["client"], "10.0.0.8");
  const json rows = top_rows(sample(), {"operation", "vnfs"}, TopOrder::kRequests);
  EXPECT_EQ(rows[0]["operation"], "READ");
  EXPECT_EQ(rows[0]["vnfs"], "vnfs1");
}

TEST(TopRows, NothingIsNoRow) {
  EXPECT_EQ(top_rows(json::object(), {"client"}, TopOrder::kRequests), json::array());
}

TEST_F(TopTest, OnceShowsATable) {
  EXPECT_EQ(run({"top", "--once", "--by", "client"}), 0);
  EXPECT_EQ(asked, std::vector<std::string>{"GET /v1/load"});
  EXPECT_NE(out.str().find("  VNFSs: 1  250 operations/s  15.3M read/s  - written/s\n"),
            std::string::npos)
      << out.str();
  EXPECT_EQ(table(),
            "CLIENT    OPS/S  SHARE  ERRORS/S  READ/S  WRITTEN/S  MEAN   WORST\n"
            "10.0.0.7  200    80%    -         3.81M   -          100us  750us\n"
            "10.0.0.8  50     20%    -         11.4M   -          2.0ms  10.0ms\n");
}

TEST_F(TopTest, LimitSaysWhatIsLeftOut) {
  EXPECT_EQ(run({"top", "--once", "--by", "client,operation", "--limit", "1"}), 0);
  EXPECT_NE(table().find("and 2 more with 150 operations/s\n"), std::string::npos) << out.str();
}

TEST_F(TopTest, WhatIsMissingIsSaid) {
  answer["missing"] = {{{"vnfs", "vnfs2"}, {"head", "c1n2"}, {"why", "it has told nothing"}}};
  EXPECT_EQ(run({"top", "--once"}), 0);
  EXPECT_TRUE(table().starts_with("missing: vnfs vnfs2 on head c1n2: it has told nothing\n"))
      << out.str();
}

TEST_F(TopTest, JsonHasSharesAndWhatIsMissing) {
  EXPECT_EQ(run({"top", "--once", "--sort", "bytes", "--limit", "2", "-o", "json"}), 0);
  const json document = json::parse(out.str());
  EXPECT_EQ(document["rows"].size(), 2u);
  EXPECT_EQ(document["rows"][0]["client"], "10.0.0.8");
  EXPECT_EQ(document["rows"][0]["bytes_share"], 0.75);
  EXPECT_EQ(document["left_out"], 0);
  EXPECT_EQ(document["missing"], json::array());
}

TEST_F(TopTest, WhatIsNoGroupIsRefused) {
  EXPECT_EQ(run({"top", "--once", "--by", "colour"}), kExitUsage);
  EXPECT_EQ(run({"top", "--once", "--sort", "name"}), kExitUsage);
  EXPECT_TRUE(asked.empty());
}

}  // namespace
}  // namespace symnas::vnfsd::ctl

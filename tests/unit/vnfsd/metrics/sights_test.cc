#include "vnfsd/metrics/sights.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/vnfsd/plans/view_builder.h"

namespace symnas::vnfsd::metrics {
namespace {

constexpr double kBounds[] = {1};

constexpr fs::NfsOperation kRead{fs::NfsProtocol::kNfs3, 6};

// Two clients read of export 1, one of them has no row; somebody asks for an export that has gone.
fs::LoadReport load() {
  fs::LoadReport out;
  const fs::LoadCounters one{3, 1, 4096, 0, 2'000'000'000, 0};
  out.rows.push_back({"10.0.0.1", 1, 1, {{kRead, one}}});
  out.rows.push_back({"10.0.0.2", 9, 2, {{kRead, one}}});
  out.others[1] = {{kRead, one}};
  out.times[{1, kRead}] = {1, 2, 3};
  return out;
}

// A head that has seen everything that there is to see.
Sights all_of_it() {
  ViewBuilder builder;
  builder.three_heads().basics().vnfs1().owner("vnfs1", "c1n1");
  records::MoveRecord move;
  move.set_to("c1n2");
  move.set_ordered_ns(5'000'000'000);
  builder.put(kv::keys::kMoves + "vnfs1", move.SerializeAsString());
  Sights out;
  out.agent = {"c1n1",
               "0.1",
               5,
               1,
               2,
               {{"fenced", 3}},
               {{"/etc/c", 99}},
               ProcessSight{},
               {{"/etc/api/c", 99}}};
  out.heads.view = builder.view();
  out.heads.silent = {"c1n3"};
  out.heads.clocks_s = {{"c1n1", -0.5}};
  out.heads.corosync_up = true;
  out.heads.corosync_members = {{"c1n2", false}};
  InstanceSight& instance = out.instances["vnfs1"];
  instance = {InstanceStanding::kServing, 3, 2, false, 7.5, InstanceSight::Said{1, 2, 3, {}, {}}};
  instance.said->numbers = InstanceSight::Numbers{4, 5, 6, 7, 8, 11, 9, {{1}, {2, 3}, 4}, 5};
  instance.said->load = load();
  out.arrivals.push_back({"vnfs1", "failover", 1, Histogram(kBounds)});
  out.luns["LUN0"] = {true, false, 4, Histogram(kBounds), 6};
  out.networks = {{"nfs0", true}};
  kv::MemberStatus member;
  member.endpoint = "https://e1";
  member.reachable = true;
  member.db_size_bytes = 4096;
  out.etcd = {{member}, true, 0.5, 1, Histogram(kBounds), 1 << 20, 250};
  out.fencing = {true, true, false, 2};
  return out;
}

bool has(const std::string& text, const std::string& line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

TEST(Sights, BecomeSamplesOfEveryMetric) {
  const std::string text = page_of(all_of_it());
  for (const Metric* metric : all_metrics()) {
    if (metric == &kPageAge) continue;  // whoever serves the page adds it
    const std::string name = "\n" + std::string(metric->name);
    const bool there = std::ranges::any_of(
        std::initializer_list<const char*>{"{", " ", "_bucket"},
        [&](const char* next) { return text.find(name + next) != std::string::npos; });
    EXPECT_TRUE(there) << metric->name << " has no sample in\n" << text;
  }
}

TEST(Sights, SayWhatTheRecordsSay) {
  const std::string text = page_of(all_of_it());
  EXPECT_TRUE(has(text, "symnas_vnfs_owner{vnfs=\"vnfs1\",head=\"c1n1\"} 1"));
  EXPECT_TRUE(has(text, "symnas_vnfs_wanted{vnfs=\"vnfs1\"} 1"));
  EXPECT_TRUE(has(text, "symnas_vnfs_epoch{vnfs=\"vnfs1\"} 7"));
  EXPECT_TRUE(
      has(text, "symnas_vnfs_move_ordered_timestamp_seconds{vnfs=\"vnfs1\",to=\"c1n2\"} 5"));
  EXPECT_TRUE(has(text, "symnas_head_state{head=\"c1n2\",state=\"serving\"} 1"));
  EXPECT_TRUE(has(text, "symnas_head_state{head=\"c1n2\",state=\"fenced\"} 0"));
  EXPECT_TRUE(has(text, "symnas_head_heard{head=\"c1n1\"} 1"));
  EXPECT_TRUE(has(text, "symnas_head_heard{head=\"c1n3\"} 0"));
  EXPECT_TRUE(has(text, "symnas_lun_size_bytes{lun=\"LUN0\"} 1073741824"));
}

TEST(Sights, SayWhatThisHeadSees) {
  const std::string text = page_of(all_of_it());
  EXPECT_TRUE(has(text, "symnas_instance_up{head=\"c1n1\",vnfs=\"vnfs1\"} 1"));
  EXPECT_TRUE(has(text, "symnas_instance_state{head=\"c1n1\",vnfs=\"vnfs1\",state=\"serving\"} 1"));
  EXPECT_TRUE(has(text, "symnas_gate_margin_seconds{head=\"c1n1\",vnfs=\"vnfs1\"} 7.5"));
  EXPECT_TRUE(has(text, "symnas_lun_healthy{head=\"c1n1\",lun=\"LUN0\"} 0"));
  EXPECT_TRUE(has(text, "symnas_etcd_quota_used_ratio{head=\"c1n1\"} 0.25"));
  EXPECT_TRUE(has(text, "symnas_events_total{head=\"c1n1\",kind=\"fenced\"} 3"));
  EXPECT_TRUE(has(text, "symnas_events_total{head=\"c1n1\",kind=\"fence-failed\"} 0"))
      << "a counter is there before its first event";
}

TEST(Sights, AddUpWhatClientsAsked) {
  const std::string text = page_of(all_of_it());
  const std::string labels =
      "{head=\"c1n1\",vnfs=\"vnfs1\",export=\"u04\",protocol=\"nfs3\",operation=\"READ\"";
  EXPECT_TRUE(has(text, "symnas_nfs_requests_total" + labels + "} 6")) << text;
  EXPECT_TRUE(has(text, "symnas_nfs_errors_total" + labels + "} 2"));
  EXPECT_TRUE(has(text, "symnas_nfs_request_duration_seconds_sum" + labels + "} 4"));
  EXPECT_TRUE(
      has(text, "symnas_nfs_request_duration_seconds_bucket" + labels + ",le=\"0.001\"} 6"));
  EXPECT_TRUE(
      has(text, "symnas_nfs_read_bytes_total{head=\"c1n1\",vnfs=\"vnfs1\",export=\"u04\"} 8192"));
  EXPECT_TRUE(
      has(text, "symnas_nfs_read_bytes_total{head=\"c1n1\",vnfs=\"vnfs1\",export=\"#9\"} 4096"));
}

TEST(Sights, WithoutRecordsTheRestIsThere) {
  Sights sights = all_of_it();
  sights.heads.view.reset();
  const std::string text = page_of(sights);
  EXPECT_TRUE(has(text, "symnas_records_known{head=\"c1n1\"} 0"));
  EXPECT_EQ(text.find("symnas_vnfs_wanted{"), std::string::npos);
  EXPECT_TRUE(has(text, "symnas_instance_up{head=\"c1n1\",vnfs=\"vnfs1\"} 1"));
}

TEST(Sights, EtcdThatWasNotAskedYetIsNotLost) {
  Sights sights = all_of_it();
  EXPECT_TRUE(has(page_of(sights), "symnas_etcd_up{head=\"c1n1\"} 1"));
  sights.etcd = {};
  sights.etcd.reads_s = Histogram(kBounds);
  EXPECT_EQ(page_of(sights).find("symnas_etcd_up{"), std::string::npos);
}

TEST(Sights, WhatIsNotConfiguredHasNoSample) {
  Sights sights = all_of_it();
  sights.fencing = {};
  sights.heads.corosync_up.reset();
  sights.heads.corosync_members.clear();
  const std::string text = page_of(sights);
  EXPECT_EQ(text.find("symnas_fence_agent_ready{"), std::string::npos);
  EXPECT_EQ(text.find("symnas_reservations_ready{"), std::string::npos);
  EXPECT_EQ(text.find("\nsymnas_corosync_up "), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::metrics

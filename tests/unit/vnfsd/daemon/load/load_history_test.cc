#include "vnfsd/daemon/load/load_history.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::daemon {
namespace {

fs::LoadReport report(std::uint64_t requests) {
  fs::LoadReport out;
  out.rows.push_back(
      {"10.0.0.1", 7, 1, {{{fs::NfsProtocol::kNfs3, 6}, {requests, 0, 0, 0, 0, 0}}}});
  return out;
}

std::uint64_t requests(const std::optional<records::LoadVnfs>& load) {
  return load && load->clients_size() == 1 ? load->clients(0).operations(0).requests() : 0;
}

TEST(LoadHistory, OneReportSaysNothing) {
  LoadHistory history;
  EXPECT_FALSE(history.last("v1"));
  history.add("v1", Epoch(1), 1000, report(5));
  EXPECT_FALSE(history.last("v1"));
}

TEST(LoadHistory, TellsOfTheLastSeconds) {
  LoadHistory history;
  for (int s = 0; s <= 10; ++s)
    history.add("v1", Epoch(1), s * 1000, report(static_cast<std::uint64_t>(s * 100)));
  const auto load = history.last("v1");
  EXPECT_EQ(requests(load), 300u);
  EXPECT_EQ(load->span_ms(), 3000u);
  EXPECT_EQ(load->vnfs(), "v1");
  EXPECT_EQ(load->epoch(), 1u);
}

TEST(LoadHistory, LooksThatAreTooCloseAreOne) {
  LoadHistory history;
  for (int i = 0; i <= 100; ++i)
    history.add("v1", Epoch(1), i * 100, report(static_cast<std::uint64_t>(i)));
  const auto load = history.last("v1");
  ASSERT_TRUE(load);
  EXPECT_EQ(requests(load) * 100, load->span_ms());
  EXPECT_GE(load->span_ms(), 3000u);
  EXPECT_LE(load->span_ms(), 4000u);
}

TEST(LoadHistory, AnotherInstanceBeginsAnew) {
  LoadHistory history;
  history.add("v1", Epoch(1), 1000, report(5));
  history.add("v1", Epoch(2), 2000, report(1));
  EXPECT_FALSE(history.last("v1"));
  history.add("v1", Epoch(2), 3000, report(4));
  EXPECT_EQ(requests(history.last("v1")), 3u);
}

TEST(LoadHistory, WhatGoesIsForgotten) {
  LoadHistory history;
  history.add("v1", Epoch(1), 1000, report(5));
  history.add("v1", Epoch(1), 2000, report(6));
  history.keep_if([](const std::string& vnfs) { return vnfs != "v1"; });
  EXPECT_FALSE(history.last("v1"));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

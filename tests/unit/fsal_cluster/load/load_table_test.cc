#include "fsal_cluster/load/load_table.h"

#include <thread>

#include <gtest/gtest.h>

#include "common/base/ip_text.h"

namespace symnas::fs {
namespace {

constexpr NfsOperation kGetattr{NfsProtocol::kNfs3, 1};
constexpr NfsOperation kRead{NfsProtocol::kNfs3, 6};

in6_addr client(std::uint32_t number) { return ipv4_mapped({htonl(0x0a000000 + number)}); }

LoadKey key(std::uint32_t number, NfsOperation operation = kGetattr, std::uint16_t export_id = 1) {
  return {client(number), export_id, operation};
}

LoadCounters one(std::uint64_t time_us = 50, std::uint64_t bytes_read = 0) {
  return {1, 0, bytes_read, 0, time_us * 1000, time_us * 1000};
}

LoadCounters sum_of(const LoadReport& report) {
  LoadCounters sum;
  for (const LoadRow& row : report.rows) {
    for (const auto& [operation, counted] : row.operations) sum.add(counted);
  }
  for (const auto& [id, operations] : report.others) {
    for (const auto& [operation, counted] : operations) sum.add(counted);
  }
  return sum;
}

const LoadRow* row_of(const LoadReport& report, std::uint32_t number, std::uint16_t id = 1) {
  for (const LoadRow& row : report.rows) {
    if (row.client == ip_text(client(number)) && row.export_id == id) return &row;
  }
  return nullptr;
}

TEST(LoadTable, CountsByClientExportAndOperation) {
  LoadTable table;
  table.count(key(1, kRead), {1, 0, 4096, 0, 7'000, 7'000});
  table.count(key(1, kRead), {1, 1, 0, 0, 9'000, 9'000});
  table.count(key(1), one());
  table.count(key(1, kGetattr, 2), one());
  table.count(key(2), one());
  const LoadReport report = table.report();
  EXPECT_EQ(report.rows.size(), 3u);
  ASSERT_NE(row_of(report, 1), nullptr);
  EXPECT_EQ(row_of(report, 1)->client, "10.0.0.1");
  EXPECT_EQ(row_of(report, 1)->operations.at(kRead), (LoadCounters{2, 1, 4096, 0, 16'000, 9'000}));
  EXPECT_EQ(row_of(report, 1)->operations.at(kGetattr).requests, 1u);
  EXPECT_NE(row_of(report, 1, 2), nullptr);
  EXPECT_TRUE(report.others.empty());
}

TEST(LoadTable, CountersAreCumulative) {
  LoadTable table;
  table.count(key(1), one());
  const std::uint64_t serial = table.report().rows.at(0).serial;
  table.count(key(1), one());
  const LoadReport report = table.report();
  EXPECT_EQ(sum_of(report).requests, 2u);
  EXPECT_EQ(report.rows.at(0).serial, serial);
}

TEST(LoadTable, Ipv6IsItsOwnClient) {
  LoadTable table;
  LoadKey six = key(1);
  six.client = in6addr_loopback;
  table.count(six, one());
  EXPECT_EQ(table.report().rows.at(0).client, "::1");
}

TEST(LoadTable, TimesAreInClasses) {
  LoadTable table;
  for (const std::uint64_t us : {1, 100, 101, 3'000'000, 3'000'001}) table.count(key(1), one(us));
  EXPECT_EQ(table.report().times.at({1, kGetattr}), (LoadTimes{2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1}));
}

TEST(LoadTable, ManyClientsAreBoundedAndSumsStayTrue) {
  LoadTable table;
  constexpr std::uint32_t kClients = 5'000;
  for (int round = 0; round < 4; ++round) {
    for (std::uint32_t number = 0; number < kClients; ++number) {
      table.count(key(number, kRead), one(50, 1000));
      table.count(key(100'000, kRead), one(50, 1000));  // as much as all of them
    }
  }
  const LoadReport report = table.report();
  EXPECT_LE(report.rows.size(), kLoadPairsMax);
  EXPECT_EQ(sum_of(report).requests, 8 * kClients);
  EXPECT_EQ(sum_of(report).bytes_read, std::uint64_t{8} * kClients * 1000);
  EXPECT_EQ(report.times.at({1, kRead})[0], 8 * kClients);
  ASSERT_NE(row_of(report, 100'000), nullptr);
  EXPECT_EQ(row_of(report, 100'000)->operations.at(kRead).requests, 4 * kClients);
}

TEST(LoadTable, WhoComesLateAndIsBusyGetsARow) {
  LoadTable table;
  for (int round = 0; round < 50; ++round) {
    for (std::uint32_t number = 0; number < kLoadPairsMax; ++number)
      table.count(key(number), one());
  }
  for (std::uint32_t number = 0; number < 20'000; ++number) {
    table.count(key(1'000'000 + number), one());  // each once
    if (number % 50 == 0) table.count(key(7'000'000), one());
  }
  const LoadReport report = table.report();
  ASSERT_NE(row_of(report, 7'000'000), nullptr);
  EXPECT_EQ(sum_of(report).requests, 50 * kLoadPairsMax + 20'000 + 400);
}

TEST(LoadTable, WhoComesBackHasAnotherSerial) {
  LoadTable table;
  table.count(key(1), one());
  const std::uint64_t serial = table.report().rows.at(0).serial;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t number = 100; number < 3'000; ++number) table.count(key(number), one());
  }
  ASSERT_EQ(row_of(table.report(), 1), nullptr);
  table.count(key(1), one());
  const LoadReport report = table.report();
  ASSERT_NE(row_of(report, 1), nullptr);
  EXPECT_NE(row_of(report, 1)->serial, serial);
  EXPECT_EQ(row_of(report, 1)->operations.at(kGetattr).requests, 1u);
}

TEST(LoadTable, ThreadsLoseNothing) {
  LoadTable table;
  constexpr int kThreads = 20;
  constexpr std::uint32_t kEach = 2'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&table, t] {
      for (std::uint32_t i = 0; i < kEach; ++i) table.count(key(i % 1500 + t), one());
    });
  }
  std::uint64_t seen = 0;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t now = sum_of(table.report()).requests;
    EXPECT_GE(now, seen);
    seen = now;
  }
  for (auto& thread : threads) thread.join();
  const LoadReport report = table.report();
  EXPECT_EQ(sum_of(report).requests, kThreads * kEach);
  EXPECT_LE(report.rows.size(), kLoadPairsMax);
}

}  // namespace
}  // namespace symnas::fs

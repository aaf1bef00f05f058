#include "vnfsd/records/load.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

constexpr fs::NfsOperation kRead{fs::NfsProtocol::kNfs3, 6};
constexpr fs::NfsOperation kGetattr{fs::NfsProtocol::kNfs3, 1};

fs::LoadCounters reads(std::uint64_t requests) {
  return {requests, 0, requests * 4096, 0, requests * 50'000, 90'000};
}

fs::LoadRow row(const std::string& client, std::uint64_t serial, std::uint64_t requests) {
  return {client, 7, serial, {{kRead, reads(requests)}}};
}

const records::LoadClient* client_of(const records::LoadVnfs& vnfs, const std::string& client) {
  for (const records::LoadClient& one : vnfs.clients())
    if (one.client() == client) return &one;
  return nullptr;
}

std::uint64_t requests_of(const records::LoadVnfs& vnfs, const std::string& client) {
  const auto* one = client_of(vnfs, client);
  return one == nullptr || one->operations_size() == 0 ? 0 : one->operations(0).requests();
}

std::uint64_t all_requests(const records::LoadVnfs& vnfs) {
  std::uint64_t sum = 0;
  for (const records::LoadClient& client : vnfs.clients())
    for (const records::LoadOperation& one : client.operations()) sum += one.requests();
  return sum;
}

TEST(LoadBetween, IsTheDifferenceByClient) {
  const fs::LoadReport before{{row("10.0.0.1", 1, 10), row("10.0.0.2", 2, 5)}, {}, {}};
  const fs::LoadReport now{
      {row("10.0.0.1", 1, 25), row("10.0.0.2", 2, 5), row("10.0.0.3", 3, 4)}, {}, {}};
  const records::LoadVnfs load = load_between(before, now);
  EXPECT_EQ(requests_of(load, "10.0.0.1"), 15u);
  EXPECT_EQ(requests_of(load, "10.0.0.3"), 4u);
  EXPECT_EQ(client_of(load, "10.0.0.2"), nullptr);  // has asked for nothing
  const records::LoadOperation& one = client_of(load, "10.0.0.1")->operations(0);
  EXPECT_EQ(one.operation(), "nfs3.READ");
  EXPECT_EQ(one.read_bytes(), 15u * 4096);
  EXPECT_EQ(one.time_us(), 15u * 50);
  EXPECT_EQ(one.worst_us(), 90u);
}

TEST(LoadBetween, WhoHasGivenWayIsNotCountedTwice) {
  const fs::LoadReport before{{row("10.0.0.1", 1, 10)}, {{7, {{kRead, reads(100)}}}}, {}};
  // It asked twice more, gave way with all it had done, and came again with three.
  const fs::LoadReport now{{row("10.0.0.1", 9, 3)}, {{7, {{kRead, reads(112)}}}}, {}};
  const records::LoadVnfs load = load_between(before, now);
  EXPECT_EQ(requests_of(load, "10.0.0.1"), 3u);
  EXPECT_EQ(requests_of(load, ""), 2u);
}

records::LoadRecord many(int clients) {
  records::LoadRecord record;
  fs::LoadReport now;
  for (int i = 0; i < clients; ++i) {
    now.rows.push_back(row("10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250), 1,
                           static_cast<std::uint64_t>(i + 1)));
    now.rows.back().operations[kGetattr] = {1, 0, 0, 0, 1000, 1000};
  }
  *record.add_vnfses() = load_between({}, now);
  return record;
}

TEST(BoundLoad, WhatFitsStays) {
  records::LoadRecord record = many(10);
  const std::string before = record.SerializeAsString();
  bound_load(record, 32 << 10);
  EXPECT_EQ(record.SerializeAsString(), before);
}

TEST(BoundLoad, TheBusiestStayAndTheSumsAreTrue) {
  records::LoadRecord record = many(2000);
  const std::uint64_t all = all_requests(record.vnfses(0));
  bound_load(record, 32 << 10);
  EXPECT_LE(record.ByteSizeLong(), 32u << 10);
  EXPECT_GT(record.vnfses(0).clients_size(), 200);
  EXPECT_EQ(all_requests(record.vnfses(0)), all);
  EXPECT_NE(client_of(record.vnfses(0), "10.0.7.249"), nullptr);
  EXPECT_EQ(client_of(record.vnfses(0), "10.0.0.0"), nullptr);
  ASSERT_NE(client_of(record.vnfses(0), ""), nullptr);
  EXPECT_EQ(client_of(record.vnfses(0), "")->export_id(), 7u);
}

TEST(LoadRecord, BytesAreAsDescribed) {
  records::LoadRecord record;
  records::LoadVnfs& vnfs = *record.add_vnfses();
  vnfs.set_vnfs("v");
  vnfs.set_epoch(5);
  vnfs.set_span_ms(3000);
  records::LoadClient& client = *vnfs.add_clients();
  client.set_client("::1");
  client.set_export_id(7);
  records::LoadOperation& one = *client.add_operations();
  one.set_operation("nfs3.READ");
  one.set_requests(1);
  one.set_errors(2);
  one.set_read_bytes(3);
  one.set_written_bytes(4);
  one.set_time_us(5);
  one.set_worst_us(6);
  const std::string bytes = record.SerializeAsString();
  std::string hex;
  for (const unsigned char c : bytes) {
    hex += "0123456789abcdef"[c >> 4];
    hex += "0123456789abcdef"[c & 15];
  }
  EXPECT_EQ(hex,
            "0a2a0a0176100518b817"
            "2a200a033a3a311007"
            "1a170a096e6673332e52454144"
            "100118022003280430053806");
}

}  // namespace
}  // namespace symnas::vnfsd

#include "common/kv/etcd/members.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace symnas::kv::etcd {
namespace {

ErrorCode refusal(const EtcdOptions& options) {
  auto connection = read_connection(options);
  EXPECT_FALSE(connection);
  return connection ? ErrorCode::kInternal : connection.error().code;
}

TEST(EtcdConnection, endpoints) {
  auto connection =
      read_connection({.endpoints = {"http://10.99.0.1:2379", "http://c1n1.example:2379/"}});
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->targets.at(0).address, "ipv4:10.99.0.1:2379");
  EXPECT_EQ(connection->targets.at(0).endpoint, "http://10.99.0.1:2379");
  EXPECT_EQ(connection->targets.at(0).security, Target::Security::kPlain);
  EXPECT_EQ(connection->targets.at(1).address, "c1n1.example:2379");
  EXPECT_EQ(connection->targets.at(0).host, "10.99.0.1");
  EXPECT_EQ(connection->targets.at(1).host, "c1n1.example");
  connection = read_connection({.endpoints = {"http://[fd00::1]:2379"}});
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->targets.at(0).host, "fd00::1");
}

TEST(EtcdConnection, malformed_endpoints) {
  for (const char* endpoint : {"10.99.0.1:2379", "ftp://10.99.0.1:2379", "http://10.99.0.1",
                               "http://:2379", "http://10.99.0.1:", "http://10.99.0.1:x", ""}) {
    EXPECT_EQ(refusal({.endpoints = {endpoint}}), ErrorCode::kInvalidArgument) << endpoint;
  }
  EXPECT_EQ(refusal({}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal({.endpoints = std::vector<std::string>(17, "http://10.99.0.1:2379")}),
            ErrorCode::kInvalidArgument);
}

TEST(EtcdConnection, credentials) {
  std::string path = (std::string(::testing::TempDir()) + "/symnas-members-XXXXXX");
  const int fd = ::mkstemp(path.data());
  ASSERT_GE(fd, 0);
  std::ofstream(path) << "pem";
  const std::vector<std::string> endpoints = {"https://10.99.0.1:2379"};
  EXPECT_EQ(refusal({.endpoints = endpoints}), ErrorCode::kInvalidArgument) << "no CA";
  EXPECT_EQ(refusal({.endpoints = endpoints, .ca_file = path + ".none"}),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal({.endpoints = endpoints, .ca_file = path, .cert_file = path}),
            ErrorCode::kInvalidArgument)
      << "a certificate without its key";
  auto connection = read_connection(
      {.endpoints = endpoints, .ca_file = path, .cert_file = path, .key_file = path});
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->targets.at(0).security, Target::Security::kTls);
  EXPECT_EQ(connection->tls.pem_root_certs, "pem");
  EXPECT_EQ(connection->tls.pem_private_key, "pem");
  std::remove(path.c_str());
  ::close(fd);
}

}  // namespace
}  // namespace symnas::kv::etcd

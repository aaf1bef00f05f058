#include "fsal_cluster/plugin/export_clients.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <memory>

#include <gtest/gtest.h>

#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {
namespace {

sockaddr_storage v6(const char* text) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  EXPECT_EQ(::inet_pton(AF_INET6, text, &address.sin6_addr), 1);
  sockaddr_storage out{};
  reinterpret_cast<sockaddr_in6&>(out) = address;
  return out;
}

sockaddr_storage v4(std::uint32_t host_order) {
  sockaddr_storage out{};
  out.ss_family = AF_INET;
  reinterpret_cast<sockaddr_in&>(out).sin_addr.s_addr = htonl(host_order);
  return out;
}

using Texts = std::vector<std::string>;

TEST(ExportClients, AreShownOnceAsPeopleWriteThem) {
  ExportClients clients;
  for (int i = 0; i < 2; ++i) {
    clients.note(v6("fd00::1"));
    clients.note(v6("::ffff:10.0.0.1"));
    clients.note(v4(0x0a000001));
  }
  EXPECT_EQ(clients.all(), (Texts{"10.0.0.1", "fd00::1"}));
}

TEST(ExportClients, OfTwoExportsAreTold) {
  const sockaddr_storage one = v4(0x0a000001);
  auto first = std::make_unique<ExportClients>();
  first->note(one);
  ExportClients second;
  second.note(one);
  EXPECT_EQ(second.all(), Texts{"10.0.0.1"});
  first.reset();
  first = std::make_unique<ExportClients>();  // perhaps at the same address
  first->note(one);
  EXPECT_EQ(first->all(), Texts{"10.0.0.1"});
}

TEST(ExportClients, AreBounded) {
  ExportClients clients;
  for (std::uint32_t i = 0; i < kExportClientsMax + 10; ++i) clients.note(v4(0x0a000000 + i));
  EXPECT_EQ(clients.all().size(), kExportClientsMax);
}

}  // namespace
}  // namespace symnas::plugin

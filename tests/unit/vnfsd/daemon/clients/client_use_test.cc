#include "vnfsd/daemon/clients/client_use.h"

#include "fsal_cluster/state/lock_record.h"
#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

class ClientUseTest : public HeadWorld {
 protected:
  void SetUp() override { builder.basics().vnfs1(); }
  std::string text() {
    const auto use = client_use(builder.store, builder.view(), "vnfs1");
    EXPECT_TRUE(use);
    return text_of(*use);
  }
};

TEST_F(ClientUseTest, NobodyUsesWhatIsNew) {
  EXPECT_EQ(text(), "0 clients with 0 connections, 0 lock owners with locks recorded");
}

TEST_F(ClientUseTest, CountsClientsConnectionsAndOwners) {
  records::ConnectionsRecord connections;
  connections.add_tcp("10.0.0.101:2049 10.0.0.7:900");
  connections.add_tcp("10.0.0.101:2049 10.0.0.7:901 77");
  connections.add_tcp("10.0.0.101:2049 10.0.0.8:900");
  builder.put(kv::keys::kConnections + "vnfs1", connections.SerializeAsString());
  for (const char* vnfs : {"vnfs1", "vnfs10"}) {
    const fs::LockOwner owner{
        .protocol = fs::LockProtocol::kNfs4, .client = "client", .owner = "owner"};
    builder.put(fs::lock_key(FsId(1), Ino(16), vnfs, owner), "x");
  }
  EXPECT_EQ(text(), "2 clients with 3 connections, 1 lock owners with locks recorded");
  const auto locks = locks_of(builder.store, builder.view(), "vnfs1");
  ASSERT_TRUE(locks);
  ASSERT_EQ(locks->size(), 1u);
  EXPECT_EQ(locks->front().first, FsId(1));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

// Changes of VNFSs: a VIP that somebody answers for is given to none, and what clients notice says
// how many there are.
#include "vnfsd/daemon/admin/vnfs_admin.h"

#include <nlohmann/json.hpp>

#include "fsal_cluster/state/lock_record.h"
#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

using api::Consent;

class VipsTest : public HeadWorld {
 protected:
  void SetUp() override { builder.three_heads().basics(); }
  WhoHas who_has() {
    return [this](const std::string& device,
                  const std::vector<IpAddress>& addresses) -> Result<std::vector<address::Holder>> {
      asked.push_back(device);
      if (deaf) return fail(ErrorCode::kNotFound, "network device eth1: does not exist");
      std::vector<address::Holder> out;
      for (const IpAddress& one : addresses) {
        if (one.to_string() == taken) out.push_back({one, {0x52, 0x54, 0, 1, 2, 3}});
      }
      return out;
    };
  }
  VnfsRequest request() {
    VnfsRequest r = ViewBuilder::vnfs();
    r.heads = {"c1n2", "c1n1"};
    return r;
  }
  std::string taken = "10.0.0.101";
  bool deaf = false;
  std::vector<std::string> asked;
  VnfsAdmin admin{head, reader, event_writer, who_has()};
};

TEST_F(VipsTest, OneThatIsInUseIsRefused) {
  for (const Mode mode : {Mode::kDryRun, Mode::kCommit}) {
    const auto made = admin.create_vnfs(request(), mode);
    EXPECT_EQ(code_of(made), ErrorCode::kBusy);
    EXPECT_EQ(made.error().message,
              "vnfs vnfs1: VIP 10.0.0.101: 52:54:00:01:02:03 answers for it on the network behind "
              "eth1 (choose another, or take it away there)");
  }
  EXPECT_TRUE(builder.view().vnfses.empty());
}

TEST_F(VipsTest, OneThatIsFreeIsTaken) {
  taken = "10.0.0.99";
  ASSERT_TRUE(admin.create_vnfs(request(), Mode::kCommit));
  EXPECT_EQ(asked, std::vector<std::string>{"eth1"});
  EXPECT_TRUE(builder.view().vnfses.contains("vnfs1"));
}

TEST_F(VipsTest, EveryOneOfASetIsAskedFor) {
  taken = "10.0.0.102";
  const VnfsSetRequest set{"v", {"10.0.0.101/24@nfs0"}, {"u04"}, {"c1n1", "c1n2"}, "manual"};
  const auto made = admin.create_vnfs_set(set, Mode::kCommit);
  EXPECT_EQ(code_of(made), ErrorCode::kBusy);
  EXPECT_NE(made.error().message.find("vnfs v2: VIP 10.0.0.102"), std::string::npos);
}

TEST_F(VipsTest, WhatCannotBePlannedAsksNobody) {
  VnfsRequest wrong = request();
  wrong.exports = {"none"};
  EXPECT_EQ(code_of(admin.create_vnfs(wrong, Mode::kCommit)), ErrorCode::kNotFound);
  EXPECT_TRUE(asked.empty());
}

TEST_F(VipsTest, AHeadWithoutTheNetworkMakesItForOthers) {
  deaf = true;
  EXPECT_TRUE(admin.create_vnfs(request(), Mode::kCommit));
}

class ClientsTest : public HeadWorld {
 protected:
  void SetUp() override { builder.three_heads().basics().vnfs1({"c1n2", "c1n1"}); }
  void stop() {
    builder.apply(
        [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  }
  void connect() {
    records::ConnectionsRecord connections;
    connections.add_tcp("10.0.0.101:2049 10.0.0.7:900");
    connections.add_tcp("10.0.0.101:2049 10.0.0.7:901 77");
    connections.add_tcp("10.0.0.101:2049 10.0.0.8:900");
    builder.put(kv::keys::kConnections + "vnfs1", connections.SerializeAsString());
  }
  std::string lock(const std::string& vnfs) {
    const fs::LockOwner owner{
        .protocol = fs::LockProtocol::kNfs4, .client = "client", .owner = "owner"};
    std::string key = fs::lock_key(FsId(1), Ino(16), vnfs, owner);
    builder.put(key, "x");
    return key;
  }
  bool exists(const std::string& key) {
    const auto read = kv::range_blocking(builder.store, {key, ""}, 0, kTestDeadlineMs);
    EXPECT_TRUE(read);
    return read && !read->kvs.empty();
  }
  VnfsAdmin admin{head, reader, event_writer, {}};
};

TEST_F(ClientsTest, WhatNobodyUsesIsRemovedWithoutConsent) {
  stop();
  ASSERT_TRUE(admin.remove_vnfs("vnfs1", Consent::kNo, Mode::kCommit));
  EXPECT_TRUE(builder.view().vnfses.empty());
}

TEST_F(ClientsTest, WhatClientsUseNeedsConsent) {
  stop();
  connect();
  const std::string own = lock("vnfs1");
  const std::string other = lock("vnfs10");
  const auto refused = admin.remove_vnfs("vnfs1", Consent::kNo, Mode::kCommit);
  EXPECT_EQ(code_of(refused), ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("2 clients with 3 connections, 1 lock owners"),
            std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("--yes"), std::string::npos);
  ASSERT_TRUE(admin.remove_vnfs("vnfs1", Consent::kNo, Mode::kDryRun));
  EXPECT_TRUE(exists(own));
  const auto removed = admin.remove_vnfs("vnfs1", Consent::kYes, Mode::kCommit);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_NE(removed->find("had 2 clients"), std::string::npos) << *removed;
  EXPECT_FALSE(exists(own));  // nobody could give it back
  EXPECT_TRUE(exists(other));
}

TEST_F(ClientsTest, ConsentDoesNotRemoveWhatServes) {
  EXPECT_EQ(code_of(admin.remove_vnfs("vnfs1", Consent::kYes, Mode::kCommit)), ErrorCode::kBusy);
}

TEST_F(ClientsTest, ADryMoveSaysWhoWouldNotice) {
  builder.owner("vnfs1", "c1n2");
  records::HeadRecord c1n1 = builder.view().heads.at("c1n1").record;
  for (const auto& [name, lun] : builder.view().luns) c1n1.add_luns(lun.record.uuid());
  builder.put(kv::keys::kHeads + "c1n1", c1n1.SerializeAsString());
  connect();
  lock("vnfs1");
  const auto said = admin.rehost_vnfs("vnfs1", "c1n1", Pin::kYes, Mode::kDryRun);
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(*said,
            "vnfs vnfs1: to be moved from c1n2 to c1n1\n"
            "vnfs vnfs1: 2 clients with 3 connections, 1 lock owners with locks recorded\n"
            "vnfs vnfs1: expected pause: not known, no planned move of it is remembered");
  EXPECT_TRUE(builder.view().moves.empty());
}

TEST_F(ClientsTest, ADryMoveThatWouldBeRefusedSaysWhy) {
  builder.owner("vnfs1", "c1n2");
  const auto said = admin.rehost_vnfs("vnfs1", "c1n3", Pin::kYes, Mode::kDryRun);
  EXPECT_EQ(code_of(said), ErrorCode::kInvalidArgument);
  EXPECT_NE(said.error().message.find("not one of its heads"), std::string::npos);
}

TEST_F(ClientsTest, HistoryOfWhatDoesNotExistIsNone) {
  ASSERT_TRUE(admin.vnfs_history("vnfs1"));
  EXPECT_EQ(code_of(admin.vnfs_history("nobody")), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

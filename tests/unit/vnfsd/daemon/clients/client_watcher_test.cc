#include "vnfsd/daemon/clients/client_watcher.h"

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/clients/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

class ClientWatcherTest : public HeadWorld {
 protected:
  void SetUp() override {
    builder.basics().vnfs1().owner("vnfs1", "c1n3");
    instance::InstanceSnapshot& serving = instances.all["vnfs1"];
    serving.phase = instance::Phase::kServing;
    serving.pid = 42;
    connected.add_tcp("10.0.0.101:2049 10.0.0.7:900");
    show();
  }
  void show() { reader.copy = builder.view(); }
  records::ConnectionsRecord record() {
    const ClusterView view = builder.view();
    const auto found = view.connections.find("vnfs1");
    return found == view.connections.end() ? records::ConnectionsRecord() : found->second.record;
  }
  void look() {
    show();
    watcher.look();
  }

  std::uint64_t accepted = 1;
  records::ConnectionsRecord connected;
  int asked = 0;
  FakeInstances instances;
  std::stop_source end;
  ClientWatcher watcher{head,
                        reader,
                        instances,
                        {[this](int) -> Result<std::uint64_t> { return accepted; },
                         [this](int, const std::string&) -> Result<records::ConnectionsRecord> {
                           ++asked;
                           return connected;
                         }},
                        end.get_token()};
};

TEST_F(ClientWatcherTest, WritesDownWhoIsConnected) {
  look();
  EXPECT_EQ(record().tcp_size(), 1);
}

TEST_F(ClientWatcherTest, LooksOnlyWhenSomebodyHasComeOrASecondHasPassed) {
  look();
  pass_ms(kNewClientsLookMs);
  look();
  EXPECT_EQ(asked, 1);
  ++accepted;
  connected.add_tcp("10.0.0.101:2049 10.0.0.8:900");
  look();
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(record().tcp_size(), 2);
  pass_ms(kClientsLookMs);
  look();
  EXPECT_EQ(asked, 3);
}

TEST_F(ClientWatcherTest, WhatHasNotChangedIsNotWritten) {
  look();
  const Revision before = builder.view().connections.at("vnfs1").mod_revision;
  pass_ms(kClientsLookMs);
  look();
  EXPECT_EQ(builder.view().connections.at("vnfs1").mod_revision, before);
}

TEST_F(ClientWatcherTest, WhatAnotherHeadOwnsIsItsOwn) {
  builder.owner("vnfs1", "c1n1");
  look();
  EXPECT_EQ(record().tcp_size(), 0);
}

TEST_F(ClientWatcherTest, AnOwnerThatTheCopyDoesNotKnowOfIsCompared) {
  show();
  builder.owner("vnfs1", "c1n1");
  watcher.look();
  EXPECT_EQ(record().tcp_size(), 0);
}

TEST_F(ClientWatcherTest, WhoseVipsAreDownIsNotLookedAt) {
  instances.all["vnfs1"].silent = true;
  look();
  EXPECT_EQ(asked, 0);
}

TEST_F(ClientWatcherTest, WhoMayNotHaveHeardStays) {
  instances.all["vnfs1"].unheard = {"10.0.0.101:2049 10.0.0.9:900"};
  look();
  ASSERT_EQ(record().unheard_size(), 1);
  EXPECT_EQ(record().unheard(0), "10.0.0.101:2049 10.0.0.9:900");
}

TEST_F(ClientWatcherTest, NothingIsWrittenBeforeTheHeadIsRegistered) {
  reader.ready = false;
  look();
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

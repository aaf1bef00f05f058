#include "fsal_cluster/nsm/status_monitor.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/base/bytes.h"
#include "fsal_cluster/nsm/rpc_message.h"

namespace symnas::nsm {
namespace {

const std::string kHolder = "10.0.0.202";
const Peer kMonitor{kHolder, 700};

Reply ask(const RpcCall& call, const Peer& peer, std::vector<Reboot>* noted = nullptr) {
  Clients clients;
  clients.note = [&](const Reboot& client) {
    if (noted != nullptr) noted->push_back(client);
  };
  clients.has_locks = [](const std::string& address) { return address == kHolder; };
  return answer(encode_call(call), peer, 9, clients);
}

Reply ask(std::uint32_t procedure) {
  return ask({1, kNsmProgram, kNsmVersion, procedure, ""}, kMonitor);
}

std::string results(const Reply& out) {
  const auto reply = decode_reply(out.message);
  return reply && reply->succeeded ? to_hex(reply->results) : "refused";
}

TEST(StatusMonitorTest, ANoticeOfAHolderReleasesItsLocksFirst) {
  const Reply out = ask(sm_notify(1, "vm1", 5), kMonitor);
  EXPECT_EQ(out.reboot, (Reboot{kHolder, 5}));
  EXPECT_EQ(results(out), "");
}

TEST(StatusMonitorTest, ANoticeOfAnybodyElseIsAnsweredAndNothingIsDone) {
  for (const Peer& peer : {Peer{"10.0.0.203", 700}, Peer{"127.0.0.1", 700}, Peer{"", 700}}) {
    // Only the address counts, whatever name the client gives.
    const Reply out = ask(sm_notify(1, kHolder, 5), peer);
    EXPECT_FALSE(out.reboot) << peer.address;
    EXPECT_FALSE(out.refused.empty());
    EXPECT_EQ(results(out), "");
  }
}

TEST(StatusMonitorTest, ANoticeOfAnOrdinaryUserOfAHolderIsNone) {
  EXPECT_FALSE(ask(sm_notify(1, "vm1", 5), {kHolder, 1024}).reboot);
  EXPECT_TRUE(ask(sm_notify(1, "vm1", 5), {kHolder, 1023}).reboot);
}

// A client without locks may be about to lock in its former life.
TEST(StatusMonitorTest, ALifeIsNotedWhetherThereAreLocksOrNot) {
  std::vector<Reboot> noted;
  ask(sm_notify(1, "vm1", 5), kMonitor, &noted);
  ask(sm_notify(1, "vm2", 7), {"10.0.0.203", 700}, &noted);
  ask(sm_notify(1, "vm1", 9), {kHolder, 1024}, &noted);
  EXPECT_EQ(noted, (std::vector<Reboot>{{kHolder, 5}, {"10.0.0.203", 7}}));
}

TEST(StatusMonitorTest, ANoticeThatCannotBeReadIsNone) {
  RpcCall call = sm_notify(1, std::string(1025, 'x'), 5);
  EXPECT_FALSE(ask(call, kMonitor).reboot);
  EXPECT_EQ(results(ask(call, kMonitor)), "refused");
  call = sm_notify(1, "vm1", 5);
  call.arguments.resize(call.arguments.size() - 1);
  EXPECT_FALSE(ask(call, kMonitor).reboot);
}

TEST(StatusMonitorTest, NobodyIsMonitoredOnRequest) {
  EXPECT_EQ(results(ask(0)), "");
  EXPECT_EQ(results(ask(1)), "0000000100000009");  // SM_STAT: no; its state
  EXPECT_EQ(results(ask(2)), "0000000100000009");  // SM_MON: no
  EXPECT_EQ(results(ask(3)), "00000009");          // SM_UNMON, SM_UNMON_ALL: the state
  EXPECT_EQ(results(ask(4)), "00000009");
  EXPECT_EQ(results(ask(5)), "");  // SM_SIMU_CRASH: nothing happens
  EXPECT_FALSE(ask(5).reboot);
  EXPECT_EQ(results(ask(7)), "refused");
}

TEST(StatusMonitorTest, OtherProgramsAndVersionsAreRefused) {
  EXPECT_EQ(results(ask({1, 100021, 4, 16, ""}, kMonitor)), "refused");
  EXPECT_EQ(results(ask({1, kNsmProgram, 2, 6, ""}, kMonitor)), "refused");
  EXPECT_EQ(answer("nonsense", kMonitor, 9, {}).message, "");
}

}  // namespace
}  // namespace symnas::nsm

// Agent: why a head that nobody hears is not fenced; the event and the log say it.
#include "tests/unit/vnfsd/daemon/fencing_cluster.h"

#include <nlohmann/json.hpp>
#include "vnfsd/records/events.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr std::int64_t kSilentForMs = 4 * ha::kSilentMs;
constexpr int kTriesMax = 3'000;
constexpr unsigned kTryUs = 1'000;

// The boots that c1n3 was told of, for always the same time.
class FixedSights final : public probe::HeadSights {
 public:
  void set_peers(std::map<std::string, Peer>, std::string) override {}
  std::vector<ha::PeerSight> sights() const override { return seen; }

  void add(const std::string& head, const std::string& incarnation, std::int64_t silent_ms) {
    const bool silent = silent_ms >= ha::kSilentMs;
    seen.push_back({.head = head,
                    .incarnation = incarnation,
                    .silent_ms = silent_ms,
                    .suspect = silent,
                    .silent = silent,
                    .paths_silent_ms = {silent_ms}});
  }
  std::vector<ha::PeerSight> seen;  // before an agent uses it
};

class DetectionTest : public AgentFencingTest {
 protected:
  // c1n3 begins to look, with c1n2 unheard, and c1n1 as long as that.
  void look(std::int64_t c1n1_silent_ms, const AgentLinks& links) {
    auto fixed = std::make_unique<FixedSights>();
    fixed->add("c1n2", "boot2", kSilentForMs);
    fixed->add("c1n1", "boot of c1n1", c1n1_silent_ms);
    agents["c1n3"].reset();
    sights = std::move(fixed);
    AgentLinks seeing = links;
    seeing.prober = sights.get();
    start("c1n3", "boot3", seeing);
  }
  AgentLinks fencing() {
    AgentLinks links;
    links.fence_off = [this](const std::string& head) -> Result<std::string> {
      asked.push_back(head);
      return "power is off";
    };
    return links;
  }
  // What the event of the silent head says.
  std::string told() {
    for (int i = 0; i < kTriesMax; ++i, ::usleep(kTryUs)) {
      const auto page = read_events(builder.store, Revision{}, kTestDeadlineMs);
      for (const StoredEvent& event : page->events)
        if (event.record.kind() == event::kHeadSilent) return event.record.text();
    }
    return "nothing";
  }
  void expect_told(const std::string& why) {
    const std::string said = told();
    EXPECT_NE(said.find(why), std::string::npos) << said;
    EXPECT_TRUE(asked.empty());
    EXPECT_FALSE(builder.view().fences.contains("c1n2"));
    EXPECT_TRUE(mount().alive());
  }
};

TEST_F(DetectionTest, WithoutFencingNothingIsDoneAndStatusSaysSoBefore) {
  look(0, {});
  expect_told("neither reservations nor a fence agent are configured on c1n3");
  const nlohmann::json status = agents["c1n3"]->backends().status.local_status();
  const std::string why = status["failover"]["error"];
  EXPECT_NE(why.find("[fence] in vnfsd.toml"), std::string::npos) << why;
}

TEST_F(DetectionTest, AnAdministratorWhoWantsToBeAskedIsAsked) {
  automatic = false;
  look(0, fencing());
  expect_told("symnas head fence does it");
}

TEST_F(DetectionTest, WhoHearsNoMajorityMayBeTheOneThatIsCutOff) {
  look(kSilentForMs, fencing());
  expect_told("hears 0 of 2 others only");
}

// The machine of a unit test is in no network of the lab's VIPs.
TEST_F(DetectionTest, WhoCannotAskTheVipsDoesNotFence) {
  look(0, fencing());
  expect_told("no address in the networks of its VIPs");
  const nlohmann::json silent = agents["c1n3"]->backends().status.local_status()["silent"];
  ASSERT_EQ(silent.size(), 1u);
  EXPECT_EQ(silent[0]["head"], "c1n2");
  EXPECT_NE(silent[0]["why"].get<std::string>().find("no address"), std::string::npos);
  EXPECT_EQ(agents["c1n3"]->backends().status.local_status()["failover"]["error"], "");
}

TEST_F(DetectionTest, OneThatServesNothingIsNotMissed) {
  kv::Txn txn;
  txn.success.push_back(kv::erase(kv::keys::kOwners + "vnfs1"s));
  txn.success.push_back(kv::erase(kv::keys::kVnfs + "vnfs1"s));
  ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs));
  look(0, fencing());
  expect_told("it serves nothing");
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

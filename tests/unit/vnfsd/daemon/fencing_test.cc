// Agent::fence_head over an in-memory store: what is recorded when, and what the victim may do
// then.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "fsal_cluster/schema/mount_entry.h"
#include "tests/unit/cvm/lun_files.h"
#include "tests/unit/vnfsd/view_builder.h"
#include "vnfsd/daemon/agent.h"

namespace symnas::vnfsd::daemon {
namespace {

using namespace std::string_literals;

constexpr FsId kFs{1};
constexpr MountId kMount{5};

class FencingTest : public ::testing::Test {
 protected:
  // c1n2 owns vnfs1, whose instance has mounted filesystem u04.
  void SetUp() override {
    builder.basics();
    start("c1n2", "boot2", {});
    builder.apply([](const ClusterView& v) {
      VnfsRequest r = ViewBuilder::vnfs();
      r.heads = {"c1n1", "c1n2"};  // no supervisor at c1n2: the test claims
      return plan_vnfs_create(v, r);
    });
    const auto plan = agents["c1n2"]->claim("vnfs1", {});
    ASSERT_TRUE(plan) << plan.error().message;
    fs::records::MountRecord mount;
    mount.set_head("c1n2");
    mount.set_vnfs("vnfs1");
    mount.set_vnfs_id(plan->vnfs_id.value());
    mount.set_epoch(plan->epoch.value());
    builder.put(kv::keys::mount(kFs, kMount), mount.SerializeAsString());
    AgentLinks links;
    links.fence_off = [this](const std::string& head) -> Result<std::string> {
      asked.push_back(head);
      states_at_proof.push_back(builder.view().fences.at(head).record.state());
      if (during) during();
      if (fails) return fail(ErrorCode::kUnavailable, "agent: no power switch");
      return "power is off";
    };
    start("c1n3", "boot3", links);
  }
  void start(const std::string& head, const std::string& incarnation, const AgentLinks& links) {
    Config config;
    config.cluster_name = "lab";
    config.cluster_uuid = *cvm::uuid_from_bytes(std::string(16, 'c'));
    config.head_name = head;
    config.head_address = "10.99.0." + head.substr(3);
    config.fence.cuts = "power";
    config.fence.persistent_reservations = reserves;
    config.daemon.lun_paths = lun_paths;
    config.daemon.run_dir = ::testing::TempDir() + "symnas-fencing";
    agents[head].reset();
    agents[head] =
        std::make_unique<Agent>(builder.store, env::system_clock(), config, incarnation, links);
    if (may_register) {
      ASSERT_TRUE(agents[head]->view());
    }
  }
  Result<std::string> fence(const std::string& head) {
    return agents["c1n3"]->fence_head(head, Mode::kCommit);
  }
  fs::MountEntry mount() {
    const auto mounts = fs::list_mounts(builder.store, kFs);
    EXPECT_TRUE(mounts && mounts->size() == 1);
    return mounts->front();
  }
  records::FenceRecord record() { return builder.view().fences.at("c1n2").record; }

  // The next transaction that puts the victim's fence record.
  void next_step_meets(kv::TxnFault::Kind fault) {
    faults->push(fault, [](const kv::Txn& txn) {
      return std::ranges::any_of(txn.success, [](const kv::Op& op) {
        return op.kind == kv::Op::Kind::kPut && op.range.key == kv::keys::kFences + "c1n2"s;
      });
    });
  }

  std::shared_ptr<kv::ScriptedFaults> faults = std::make_shared<kv::ScriptedFaults>();
  ViewBuilder builder{kv::MemStoreOptions{.faults = faults}};
  std::map<std::string, std::unique_ptr<Agent>> agents;
  std::vector<std::string> asked;
  std::vector<records::FenceState> states_at_proof;
  std::function<void()> during;
  bool fails = false;
  bool may_register = true;
  bool reserves = false;
  std::vector<std::string> lun_paths;
};

TEST_F(FencingTest, EndsEveryMountOfTheHeadAfterTheProof) {
  const auto done = fence("c1n2");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(*done, "head c1n2: fenced, 1 mounts of 1 VNFSs ended: power is off");
  EXPECT_EQ(asked, std::vector<std::string>{"c1n2"});
  EXPECT_EQ(states_at_proof, std::vector{records::FENCE_RUNNING});
  ASSERT_FALSE(mount().alive());
  EXPECT_EQ(mount().ended->by(), "c1n3");
  EXPECT_EQ(mount().ended->proof(), "power is off");
  EXPECT_FALSE(builder.view().owners.contains("vnfs1"));
  EXPECT_EQ(record().state(), records::FENCE_DONE);
  EXPECT_EQ(record().incarnation(), "boot2");
}

TEST_F(FencingTest, WithoutProofNothingEnds) {
  fails = true;
  const auto done = fence("c1n2");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(done.error().message.find("no power switch"), std::string::npos);
  EXPECT_TRUE(mount().alive());
  EXPECT_TRUE(builder.view().owners.contains("vnfs1"));
  EXPECT_EQ(record().state(), records::FENCE_FAILED);
  // It lives: it may go on; and it can be tried again.
  EXPECT_TRUE(agents["c1n2"]->claim("vnfs1", {}));
  fails = false;
  EXPECT_TRUE(fence("c1n2"));
  EXPECT_FALSE(mount().alive());
}

TEST_F(FencingTest, TheVictimClaimsNothingFromTheBeginningOn) {
  during = [&] { EXPECT_EQ(code_of(agents["c1n2"]->claim("vnfs1", {})), ErrorCode::kPermission); };
  ASSERT_TRUE(fence("c1n2"));
  EXPECT_EQ(code_of(agents["c1n2"]->claim("vnfs1", {})), ErrorCode::kPermission);
}

TEST_F(FencingTest, ItsOwnerRecordsAreDisprovedBeforeItsMountsEnd) {
  const Revision before = builder.view().owners.at("vnfs1").mod_revision;
  ASSERT_TRUE(fence("c1n2"));
  const auto read = kv::range_blocking(
      builder.store, kv::single_key(kv::keys::mount_ended(kFs, kMount)), 0, kTestDeadlineMs);
  ASSERT_TRUE(read && read->kvs.size() == 1);
  EXPECT_GT(read->kvs[0].mod_revision, Revision(before.value() + 2));  // begun, proven
}

TEST_F(FencingTest, ItsNextBootServesAgain) {
  ASSERT_TRUE(fence("c1n2"));
  start("c1n2", "boot2b", {});
  EXPECT_FALSE(builder.view().fences.contains("c1n2"));
  EXPECT_TRUE(agents["c1n2"]->claim("vnfs1", {}));
}

TEST_F(FencingTest, TheSameBootDoesNotRegisterAgain) {
  ASSERT_TRUE(fence("c1n2"));
  const std::int64_t started = builder.view().heads.at("c1n2").record.agent_started_ns();
  may_register = false;
  start("c1n2", "boot2", {});
  EXPECT_EQ(code_of(agents["c1n2"]->claim("vnfs1", {})), ErrorCode::kPermission);
  EXPECT_EQ(builder.view().heads.at("c1n2").record.agent_started_ns(), started);
}

TEST_F(FencingTest, AHeadThatCameBackMeanwhileIsLeftAlone) {
  during = [&] { start("c1n2", "boot2b", {}); };
  EXPECT_EQ(code_of(fence("c1n2")), ErrorCode::kConflict);
  EXPECT_TRUE(mount().alive());
}

// It would stand still for minutes, and that boot could claim nothing.
TEST_F(FencingTest, EachStepGoesOnWhenEtcdDidNotSayWhatBecameOfIt) {
  for (int step = 0; step < 3; ++step) {
    next_step_meets(kv::TxnFault::Kind::kRequestLost);
    next_step_meets(kv::TxnFault::Kind::kReplyLost);
  }
  const auto done = fence("c1n2");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(faults->empty());
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_FALSE(mount().alive());
  EXPECT_EQ(record().state(), records::FENCE_DONE);
}

TEST_F(FencingTest, AFailureIsNotedWhenEtcdDidNotSayWhatBecameOfIt) {
  fails = true;
  during = [&] {
    next_step_meets(kv::TxnFault::Kind::kRequestLost);
    next_step_meets(kv::TxnFault::Kind::kReplyLost);
  };
  EXPECT_FALSE(fence("c1n2"));
  EXPECT_EQ(record().state(), records::FENCE_FAILED);
}

TEST_F(FencingTest, ARepetitionSaysThatItIsDone) {
  ASSERT_TRUE(fence("c1n2"));
  ASSERT_TRUE(fence("c1n2"));
  EXPECT_EQ(asked.size(), 1u);
}

// Without being asked: only while all that was seen holds.
class SilentHeadTest : public FencingTest {
 protected:
  void SetUp() override {
    FencingTest::SetUp();
    beat();
    const auto kv =
        kv::range_blocking(builder.store, kv::single_key(heartbeat), 1, kTestDeadlineMs);
    ASSERT_TRUE(kv && kv->kvs.size() == 1);
    cause = {"boot2", Revision{}, heartbeat, kv->kvs[0].mod_revision};
  }
  void beat() { builder.put(heartbeat, "beat"); }
  void expect_left_alone() {
    const auto done = agents["c1n3"]->fence_silent_head("c1n2", cause);
    EXPECT_EQ(code_of(done), ErrorCode::kConflict);
    EXPECT_TRUE(asked.empty());
    EXPECT_TRUE(mount().alive());
  }
  const std::string heartbeat = kv::keys::heartbeat(kFs, kMount);
  Agent::FenceCause cause;
};

TEST_F(SilentHeadTest, IsFenced) {
  const auto done = agents["c1n3"]->fence_silent_head("c1n2", cause);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(mount().alive());
  EXPECT_EQ(record().state(), records::FENCE_DONE);
}

TEST_F(SilentHeadTest, IsFencedWhenEtcdDidNotSayThatItBegan) {
  next_step_meets(kv::TxnFault::Kind::kReplyLost);
  EXPECT_TRUE(agents["c1n3"]->fence_silent_head("c1n2", cause));
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_FALSE(mount().alive());
}

TEST_F(SilentHeadTest, OneThatShowsAHeartbeatWhileEtcdDoesNotAnswerIsLeftAlone) {
  next_step_meets(kv::TxnFault::Kind::kRequestLost);
  beat();
  expect_left_alone();
}

TEST_F(SilentHeadTest, OneThatShowsAHeartbeatIsLeftAlone) {
  beat();
  expect_left_alone();
  EXPECT_FALSE(builder.view().fences.contains("c1n2"));
}

TEST_F(SilentHeadTest, ItsNextBootIsLeftAlone) {
  start("c1n2", "boot2b", {});
  expect_left_alone();
}

TEST_F(SilentHeadTest, OneThatAnotherHeadFencesIsLeftToIt) {
  records::FenceRecord others;
  others.set_head("c1n2");
  others.set_incarnation("boot2");
  others.set_by("c1n9");
  builder.put(kv::keys::kFences + "c1n2", others.SerializeAsString());
  expect_left_alone();
  EXPECT_EQ(record().by(), "c1n9");
  // Whose agent has ended in the middle: what was seen is that record.
  cause.fence = builder.view().fences.at("c1n2").mod_revision;
  EXPECT_TRUE(agents["c1n3"]->fence_silent_head("c1n2", cause));
  EXPECT_FALSE(mount().alive());
}

TEST_F(SilentHeadTest, NothingIsBegunBesideAnotherFence) {
  during = [&] {
    std::thread beside([&] {
      EXPECT_EQ(code_of(agents["c1n3"]->fence_silent_head("c1n2", cause)), ErrorCode::kBusy);
    });
    beside.join();
  };
  EXPECT_TRUE(fence("c1n2"));
  EXPECT_EQ(asked.size(), 1u);
}

// c1n3 has reservations; LUNs are files that an imitation of symnas-fence gives identifications.
class ReservedTest : public FencingTest {
 protected:
  void SetUp() override {
    FencingTest::SetUp();
    for (const char* name : {"LUN0", "LUN1", "LUN2", "LUN3"}) identify(name);
  }
  void identify(const std::string& name) {
    paths[files.make(name)] = "lab." + name;
    cvm::records::LunRecord lun = builder.view().luns.at(name).record;
    lun.set_identification("lab." + name);
    builder.put(kv::keys::kLuns + name, lun.SerializeAsString());
  }
  AgentLinks links(bool with_agent) {
    AgentLinks links;
    links.last_answers_ms = pause_ms;
    links.reservations.identify =
        [this](const std::vector<std::string>&) -> Result<std::map<std::string, std::string>> {
      return paths;
    };
    links.reservations.register_boot = [this](const std::string&,
                                              const std::vector<ha::NamedLun>&) {
      if (waits_for.valid()) waits_for.wait();
      return registered;
    };
    links.reservations.preempt = [this](
                                     const std::string& own, const std::string& victim,
                                     const std::vector<ha::NamedLun>& luns) -> Result<std::string> {
      EXPECT_EQ(own, "c1n3/boot3");
      preempted.push_back(victim + " on " + std::to_string(luns.size()));
      if (during) during();
      if (!proof) return tl::unexpected<Error>(proof.error());
      return "key is gone";
    };
    if (with_agent) {
      links.fence_off = [this](const std::string& head) -> Result<std::string> {
        asked.push_back(head);
        if (fails) return fail(ErrorCode::kUnavailable, "agent: no power switch");
        return "power is off";
      };
    }
    return links;
  }
  void with_reservations(bool agent = false) {
    reserves = true;
    lun_paths = {files.directory()};
    start("c1n3", "boot3", links(agent));
    reserves = false;
  }
  // Its registration is over, well or not.
  void settled() {
    const auto told = [&] { return agents["c1n3"]->local_status()["reservations"]["error"]; };
    for (int i = 0;
         i < 2'000 && (told() == "it is being done" || told() == "etcd has not been read yet");
         ++i) {
      ::usleep(1'000);
    }
  }
  void expect_unproven(ErrorCode code) {
    EXPECT_EQ(code_of(fence("c1n2")), code);
    EXPECT_TRUE(mount().alive());
    EXPECT_TRUE(builder.view().owners.contains("vnfs1"));
    EXPECT_EQ(record().state(), records::FENCE_FAILED);
  }

  cvm::LunFiles files;
  std::map<std::string, std::string> paths;
  std::int64_t pause_ms = 10;
  Status registered;
  std::shared_future<void> waits_for;
  Status proof;
  std::vector<std::string> preempted;
};

TEST_F(ReservedTest, WithoutProofNothingIsClaimed) {
  with_reservations();
  settled();
  for (const ErrorCode code :
       {ErrorCode::kUnavailable, ErrorCode::kConflict, ErrorCode::kNotFound}) {
    proof = fail(code, "not proven");
    expect_unproven(code);
  }
  EXPECT_EQ(preempted.size(), 3u);
  EXPECT_EQ(preempted.front(), "c1n2/boot2 on 4");
  // It lives: it may go on.
  EXPECT_TRUE(agents["c1n2"]->claim("vnfs1", {}));
}

TEST_F(ReservedTest, AVerifiedPreemptionEndsItsMounts) {
  with_reservations(true);
  settled();
  const auto done = fence("c1n2");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(preempted, std::vector<std::string>{"c1n2/boot2 on 4"});
  EXPECT_TRUE(asked.empty()) << "nobody loses its power without need";
  ASSERT_FALSE(mount().alive());
  EXPECT_EQ(mount().ended->proof(), "key is gone");
  EXPECT_FALSE(builder.view().owners.contains("vnfs1"));
  EXPECT_EQ(record().state(), records::FENCE_DONE);
  EXPECT_EQ(record().cuts(), "luns") << "whatever the agent cuts: its processes go on";
}

// The abort frees the I/O that its local fence waited for: it gives up what it was asked for.
TEST_F(ReservedTest, AVictimMayGiveUpWhatItOwnsDuringThePause) {
  pause_ms = 60;
  with_reservations();
  settled();
  std::thread victim([&] {
    for (int i = 0; i < 2'000; ++i, ::usleep(1'000)) {
      const ClusterView view = builder.view();
      const auto fence = view.fences.find("c1n2");
      if (fence != view.fences.end() && fence->second.record.state() == records::FENCE_PROVEN)
        break;
    }
    EXPECT_TRUE(agents["c1n2"]->release("vnfs1", {}));
  });
  const auto done = fence("c1n2");
  victim.join();
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(record().state(), records::FENCE_DONE);
}

TEST_F(ReservedTest, OtherLunsThanBeforeAreNoProof) {
  with_reservations();
  settled();
  // Not by `lun import`, which refuses: a vnfsd that does not know of it.
  during = [&] {
    cvm::records::LunRecord lun = builder.view().luns.at("LUN3").record;
    lun.set_name("LUN9");
    lun.set_identification("lab.LUN9");
    builder.put(kv::keys::kLuns + "LUN9", lun.SerializeAsString());
  };
  expect_unproven(ErrorCode::kConflict);
}

TEST_F(ReservedTest, ALunWithoutIdentificationKeepsItFromBeingProved) {
  builder.lun("LUN9");
  with_reservations();
  settled();
  expect_unproven(ErrorCode::kUnavailable);
  EXPECT_TRUE(preempted.empty());
}

TEST_F(ReservedTest, WhoIsNotRegisteredBeginsNoFence) {
  registered = fail(ErrorCode::kUnavailable, "LUN1: no answer");
  with_reservations();
  settled();
  EXPECT_EQ(code_of(fence("c1n2")), ErrorCode::kUnavailable);
  EXPECT_FALSE(builder.view().fences.contains("c1n2"));
  EXPECT_TRUE(preempted.empty());
}

TEST_F(ReservedTest, TheAgentIsTheSecondStep) {
  with_reservations(true);
  settled();
  proof = fail(ErrorCode::kUnavailable, "LUN1: no answer");
  fails = true;
  const auto refused = fence("c1n2");
  EXPECT_EQ(code_of(refused), ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("LUN1: no answer; agent: no power switch"),
            std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(mount().alive());
  fails = false;
  ASSERT_TRUE(fence("c1n2"));
  EXPECT_EQ(asked, (std::vector<std::string>{"c1n2", "c1n2"}));
  EXPECT_EQ(mount().ended->proof(), "power is off");
  EXPECT_EQ(record().cuts(), "power");
}

// What the program says, whatever it is, through to the records.
TEST_F(ReservedTest, AnswersOfTheProgramThatProveNothing) {
  const std::string program = files.directory() + "-program";
  const auto script = [&](const std::string& body) {
    std::ofstream(program) << "#!/bin/sh\n" << body << "\n";
    ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
  };
  reserves = true;
  lun_paths = {files.directory()};
  AgentLinks calls = links(false);
  calls.reservations.preempt = [&](const auto& own, const auto& victim, const auto& luns) {
    return ha::preempt_boot({program, "/run/none", 300}, own, victim, luns);
  };
  start("c1n3", "boot3", calls);
  settled();
  const std::string said = R"(echo '{"command":"preempt","verdict":"done","luns":[]}'; )";
  for (const std::string end : {"exit 0", "exit 1", "exit 3", "exit 4", "exit 5", "exit 2",
                                "sleep 60 & wait", "kill -9 $$"}) {
    SCOPED_TRACE(end);
    script(said + end);
    EXPECT_FALSE(fence("c1n2"));
    EXPECT_TRUE(mount().alive());
    EXPECT_TRUE(builder.view().owners.contains("vnfs1"));
    EXPECT_EQ(record().state(), records::FENCE_FAILED);
  }
  std::filesystem::remove(program);
}

// A head that starts instances only when it is registered.
class RegisteringTest : public ReservedTest {
 protected:
  void again() {
    reserves = true;
    lun_paths = {files.directory()};
    start("c1n2", "boot2", links(false));
  }
  Result<instance::InstancePlan> claim() { return agents["c1n2"]->claim("vnfs1", {}); }
  bool soon(ErrorCode code) {
    for (int i = 0; i < 2'000 && (claim() || claim().error().code != code); ++i) ::usleep(1'000);
    return code_of(claim()) == code;
  }
};

TEST_F(RegisteringTest, ClaimsNothingBeforeItIsRegistered) {
  registered = fail(ErrorCode::kUnavailable, "LUN1: no answer");
  again();
  EXPECT_TRUE(soon(ErrorCode::kUnavailable));
  EXPECT_EQ(code_of(agents["c1n2"]->prepare("vnfs1")), ErrorCode::kUnavailable);
  const auto why = [&]() -> std::string {
    return agents["c1n2"]->local_status()["reservations"]["error"];
  };
  for (int i = 0; i < 2'000 && why() != "LUN1: no answer"; ++i) ::usleep(1'000);
  EXPECT_EQ(why(), "LUN1: no answer");
}

// Others would take "none" for a reason to move its VNFSs away.
TEST_F(RegisteringTest, SaysNothingOfItsLunsBeforeItKnows) {
  std::promise<void> go;
  const std::shared_future<void> going = go.get_future().share();
  waits_for = going;
  again();
  agents["c1n2"]->view();
  ::usleep(20'000);
  EXPECT_FALSE(builder.view().heads.at("c1n2").record.luns_known());
  go.set_value();
  const auto known = [&] { return builder.view().heads.at("c1n2").record.luns_known(); };
  for (int i = 0; i < 2'000 && !known(); ++i) ::usleep(1'000);
  EXPECT_TRUE(known());
}

// A volume that grows over it would end this head's instances.
TEST_F(RegisteringTest, ANewLunIsUsableWhenItIsRegisteredOn) {
  again();
  for (int i = 0; i < 2'000 && !claim(); ++i) ::usleep(1'000);
  std::promise<void> go;
  waits_for = go.get_future().share();
  const std::string path = files.make("LUN8");
  paths[path] = "lab.LUN8";
  auto lun = *cvm::import_lun({*cvm::uuid_from_bytes(std::string(16, 'c')), "LUN8", path, "", {}});
  lun.set_identification("lab.LUN8");
  builder.put(kv::keys::kLuns + "LUN8", lun.SerializeAsString());
  const auto open = [&] {
    const nlohmann::json status = agents["c1n2"]->local_status();
    for (const auto& seen : status["luns"]) {
      if (seen["name"] == "LUN8" && seen["path"] != "") return true;
    }
    return false;
  };
  const auto usable = [&] {
    const ClusterView view = builder.view();
    const auto& luns = view.heads.at("c1n2").record.luns();
    return std::find(luns.begin(), luns.end(), lun.uuid()) != luns.end();
  };
  for (int i = 0; i < 2'000 && !open(); ++i) ::usleep(1'000);
  ASSERT_TRUE(open());
  ::usleep(20'000);
  EXPECT_FALSE(usable());
  go.set_value();
  for (int i = 0; i < 2'000 && !usable(); ++i) ::usleep(1'000);
  EXPECT_TRUE(usable());
}

TEST_F(RegisteringTest, ImportsOnlyWhatHasAnIdentification) {
  again();
  for (int i = 0; i < 2'000 && !claim(); ++i) ::usleep(1'000);
  const std::string path = files.make("LUN8");
  const auto import = [&] { return agents["c1n2"]->import_lun({"LUN8", path}, Mode::kCommit); };
  EXPECT_EQ(code_of(import()), ErrorCode::kNotSupported);
  EXPECT_FALSE(builder.view().luns.contains("LUN8"));
  paths[path] = "lab.LUN8";
  const auto done = import();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(builder.view().luns.at("LUN8").record.identification(), "lab.LUN8");
}

TEST_F(RegisteringTest, ClaimsWhenItIs) {
  again();
  for (int i = 0; i < 2'000 && !claim(); ++i) ::usleep(1'000);
  EXPECT_TRUE(claim());
  EXPECT_EQ(agents["c1n2"]->local_status()["reservations"]["error"], "");
}

TEST_F(RegisteringTest, AFencedBootHasToBeRebooted) {
  registered = fail(ErrorCode::kPermission, "its key is gone");
  again();
  EXPECT_TRUE(soon(ErrorCode::kPermission));
  const auto refused = claim();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("reboot this head"), std::string::npos);
}

TEST_F(FencingTest, RefusesWhatCannotBeMeant) {
  EXPECT_EQ(code_of(fence("c1n3")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(fence("c1n9")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(agents["c1n2"]->fence_head("c1n3", Mode::kCommit)), ErrorCode::kNotSupported);
  EXPECT_TRUE(agents["c1n3"]->fence_head("c1n2", Mode::kDryRun));
  EXPECT_TRUE(asked.empty());
  EXPECT_TRUE(builder.view().fences.empty());
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

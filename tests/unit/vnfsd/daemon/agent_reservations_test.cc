// Heads that are cut off by reservations: what proves it, and what a head may do before it is
// registered.
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/daemon/fencing_cluster.h"

namespace symnas::vnfsd::daemon {
namespace {

// c1n3 has reservations; LUNs are files that an imitation of symnas-fence gives identifications.
class ReservedTest : public AgentFencingTest {
 protected:
  void SetUp() override {
    AgentFencingTest::SetUp();
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
    links.reservations.check_capable = [this](const std::string&) { return capable; };
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
    const auto told = [&] {
      return agents["c1n3"]->backends().status.local_status()["reservations"]["error"];
    };
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
  Status capable;  // of fencing: every LUN
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
  EXPECT_TRUE(agents["c1n2"]->host().claim("vnfs1", {}));
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
    EXPECT_TRUE(agents["c1n2"]->host().release("vnfs1", {}));
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

TEST_F(ReservedTest, TheAgentIsNotAskedForAHeadThatHasBootedMeanwhile) {
  with_reservations(true);
  settled();
  proof = fail(ErrorCode::kUnavailable, "LUN1: no answer");
  during = [this] { start("c1n2", "boot4", {}); };
  EXPECT_EQ(code_of(fence("c1n2")), ErrorCode::kConflict);
  EXPECT_TRUE(asked.empty()) << "the power of a healthy head was switched off";
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
  Result<instance::InstancePlan> claim() { return agents["c1n2"]->host().claim("vnfs1", {}); }
  static std::string first_bytes(const std::string& path) {
    std::string bytes(16, 'x');
    std::ifstream(path).read(bytes.data(), 16);
    return bytes;
  }
  bool soon(ErrorCode code) {
    for (int i = 0; i < 2'000 && (claim() || claim().error().code != code); ++i) ::usleep(1'000);
    return code_of(claim()) == code;
  }
};

TEST_F(RegisteringTest, ClaimsNothingBeforeItIsRegistered) {
  registered = fail(ErrorCode::kUnavailable, "LUN1: no answer");
  again();
  EXPECT_TRUE(soon(ErrorCode::kUnavailable));
  EXPECT_EQ(code_of(agents["c1n2"]->host().prepare("vnfs1")), ErrorCode::kUnavailable);
  const auto why = [&]() -> std::string {
    return agents["c1n2"]->backends().status.local_status()["reservations"]["error"];
  };
  for (int i = 0; i < 2'000 && why().find("LUN1: no answer") == std::string::npos; ++i)
    ::usleep(1'000);
  EXPECT_NE(why().find("LUN1: no answer"), std::string::npos) << why();
}

// Others would take "none" for a reason to move its VNFSs away.
TEST_F(RegisteringTest, SaysNothingOfItsLunsBeforeItKnows) {
  std::promise<void> go;
  const std::shared_future<void> going = go.get_future().share();
  waits_for = going;
  again();
  agents["c1n2"]->backends().records.view();
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
    const nlohmann::json status = agents["c1n2"]->backends().status.local_status();
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
  const auto import = [&] {
    return agents["c1n2"]->backends().luns.import_lun({"LUN8", path}, Mode::kCommit);
  };
  EXPECT_EQ(code_of(import()), ErrorCode::kNotSupported);
  EXPECT_FALSE(builder.view().luns.contains("LUN8"));
  paths[path] = "lab.LUN8";
  capable = fail(ErrorCode::kNotSupported, "forgets reservations at a power loss");
  EXPECT_EQ(code_of(import()), ErrorCode::kNotSupported);
  EXPECT_EQ(std::string(16, '\0'), first_bytes(path)) << "no label is written";
  capable = {};
  const auto done = import();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(builder.view().luns.at("LUN8").record.identification(), "lab.LUN8");
}

// Its label cannot be erased, and while it has a record no fence is proved.
TEST_F(RegisteringTest, ALunThatIsGoneIsForgotten) {
  again();
  for (int i = 0; i < 2'000 && !claim(); ++i) ::usleep(1'000);
  const auto release = [&](const std::string& name, api::Label label) {
    return agents["c1n2"]->backends().luns.release_lun(name, label, Mode::kCommit);
  };
  const auto kept = release("LUN3", api::Label::kErase);
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().message.find("symnas lun release LUN3 --forget"), std::string::npos);
  EXPECT_EQ(code_of(release("LUN0", api::Label::kForget)), ErrorCode::kBusy) << "a volume uses it";
  const auto done = release("LUN3", api::Label::kForget);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(builder.view().luns.contains("LUN3"));
}

TEST_F(RegisteringTest, ClaimsWhenItIs) {
  again();
  for (int i = 0; i < 2'000 && !claim(); ++i) ::usleep(1'000);
  EXPECT_TRUE(claim());
  EXPECT_EQ(agents["c1n2"]->backends().status.local_status()["reservations"]["error"], "");
}

TEST_F(RegisteringTest, AFencedBootHasToBeRebooted) {
  registered = fail(ErrorCode::kPermission, "its key is gone");
  again();
  EXPECT_TRUE(soon(ErrorCode::kPermission));
  const auto refused = claim();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("reboot this head"), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

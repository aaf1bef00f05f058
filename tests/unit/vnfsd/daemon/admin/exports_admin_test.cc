// Edits of exports that an instance serves, or refuses.
#include "vnfsd/daemon/admin/exports_admin.h"

#include <atomic>
#include <thread>

#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/plans/exports.h"

namespace symnas::vnfsd::daemon {
namespace {

using api::Consent;

// vnfs1 is owned by head c1n1, whose part the test plays; the administrator is at c1n3.
class ExportsAdminTest : public HeadWorld {
 protected:
  void SetUp() override {
    builder.basics().vnfs1().owner("vnfs1", "c1n1");
    builder.apply([](const ClusterView& v) {
      return plan_export_create(v, {"second", "u04", "/", {"*"}, "rw", "root"});
    });
    say("");
    owner = std::thread([this] {
      while (!over) {
        if (exports_pending(builder.view(), "vnfs1") && !silent) say(refuses);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  }
  void TearDown() override {
    over = true;
    owner.join();
  }
  // What the owner's instance serves; `why`: why it does not serve what it should, once.
  void say(const std::string& why) {
    const ClusterView view = builder.view();
    const std::string digest = exports_digest(view, view.vnfses.at("vnfs1").record);
    records::ServedRecord record;
    record.set_epoch(7);
    record.set_why(why);
    why.empty() ? record.set_exports(digest) : record.set_refused(digest);
    if (!why.empty()) refused_pseudo = pseudo_of(view.exports.at("u04").record);
    refuses.clear();
    builder.put(kv::keys::kServed + "vnfs1", record.SerializeAsString());
  }
  Result<std::string> set(std::string pseudo, Mode mode = Mode::kCommit) {
    ExportEdit edit;
    edit.name = "u04";
    edit.pseudo = std::move(pseudo);
    return admin.edit_exports([edit](const ClusterView& v) { return plan_export_set(v, edit); },
                              mode);
  }
  std::string pseudo() { return pseudo_of(builder.view().exports.at("u04").record); }
  void add_second() {
    const auto added = admin.edit_exports(
        [](const ClusterView& v) { return plan_export_add(v, "second", {"vnfs1"}); },
        Mode::kCommit);
    ASSERT_TRUE(added) << added.error().message;
  }

  std::atomic<bool> over = false;
  std::atomic<bool> silent = false;
  std::string refuses;  // set before an edit
  std::string refused_pseudo;
  ExportsAdmin admin{head, reader, event_writer};
  std::thread owner;
};

TEST_F(ExportsAdminTest, IsDoneWhenItIsServed) {
  const auto done = set("/other");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(exports_pending(builder.view(), "vnfs1"));
  EXPECT_EQ(pseudo(), "/other");
}

TEST_F(ExportsAdminTest, ADryRunChangesNothing) {
  ASSERT_TRUE(set("/other", Mode::kDryRun));
  EXPECT_EQ(pseudo(), "/u04");
}

TEST_F(ExportsAdminTest, WhatTheInstanceRefusesIsTakenBack) {
  refuses = "its pseudo path cannot be made";
  const auto done = set("/other");
  EXPECT_EQ(code_of(done), ErrorCode::kUnavailable);
  EXPECT_EQ(done.error().message, "vnfs vnfs1: its pseudo path cannot be made [it was taken back]");
  EXPECT_EQ(refused_pseudo, "/other");
  EXPECT_EQ(pseudo(), "/u04");
  EXPECT_FALSE(exports_pending(builder.view(), "vnfs1"));
}

// By whoever gave the order first, and died.
TEST_F(ExportsAdminTest, ARepeatedEditIsNotDoneBeforeItIsServed) {
  silent = true;
  builder.apply([](const ClusterView& v) {
    ExportEdit edit;
    edit.name = "u04";
    edit.pseudo = "/other";
    return plan_export_set(v, edit);
  });
  EXPECT_EQ(code_of(set("/other")), ErrorCode::kConflict);
  say("no room");
  refuses = "no room yet";
  silent = false;
  const auto refused = set("/other");
  EXPECT_EQ(code_of(refused), ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message,
            "vnfs vnfs1: no room yet [the records said so before, and stay]");
  EXPECT_EQ(pseudo(), "/other");
  const auto done = set("/other");
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(exports_problem(builder.view(), "vnfs1"), "");
}

TEST_F(ExportsAdminTest, WhatWouldHideAnotherIsNotEvenWritten) {
  add_second();
  const Revision before = builder.view().exports.at("u04").mod_revision;
  EXPECT_EQ(code_of(set("/second/x")), ErrorCode::kBusy);
  EXPECT_EQ(builder.view().exports.at("u04").mod_revision, before);
}

TEST_F(ExportsAdminTest, OfTwoAdministratorsOneIsTold) {
  silent = true;
  std::thread first([this] { EXPECT_TRUE(set("/first")); });
  while (pseudo() != "/first") std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto second = set("/second");
  EXPECT_EQ(code_of(second), ErrorCode::kConflict);
  EXPECT_NE(second.error().message.find("another change of its exports"), std::string::npos);
  silent = false;
  first.join();
  EXPECT_EQ(pseudo(), "/first");
}

TEST_F(ExportsAdminTest, WhatWasChangedMeanwhileIsNotOverwritten) {
  int plans = 0;
  const auto planner = [&](const ClusterView& v) {
    auto change =
        plan_export_set(v, {"u04", std::nullopt, "ro", std::nullopt, std::nullopt, std::nullopt});
    if (plans++ == 0) {
      builder.apply([](const ClusterView& now) {
        return plan_export_set(now, {"u04", std::nullopt, std::nullopt, "all", std::nullopt});
      });
    }
    return change;
  };
  const auto done = admin.edit_exports(planner, Mode::kCommit);
  EXPECT_EQ(code_of(done), ErrorCode::kConflict);
  EXPECT_NE(done.error().message.find("somebody else"), std::string::npos) << done.error().message;
  EXPECT_EQ(builder.view().exports.at("u04").record.access(), records::ACCESS_RW);
}

TEST_F(ExportsAdminTest, WhatClientsUseNeedsConsent) {
  add_second();
  records::ConnectionsRecord connections;
  records::ExportClients& used = *connections.add_exports();
  used.set_export_id(builder.view().exports.at("u04").record.export_id());
  used.add_clients("10.0.0.7");
  builder.put(kv::keys::kConnections + "vnfs1", connections.SerializeAsString());
  const auto refused = admin.remove_export("u04", {}, Consent::kNo, Mode::kCommit);
  EXPECT_EQ(code_of(refused), ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("through VNFS vnfs1: 1 clients (10.0.0.7)"),
            std::string::npos)
      << refused.error().message;
  ASSERT_TRUE(admin.remove_export("second", {"vnfs1"}, Consent::kNo, Mode::kCommit));
  add_second();
  const auto removed = admin.remove_export("u04", {}, Consent::kYes, Mode::kCommit);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_NE(removed->find("was in use"), std::string::npos);
  EXPECT_FALSE(builder.view().exports.contains("u04"));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

// Edits of exports that VNFSs serve.
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/plans/exports.h"

namespace symnas::vnfsd {
namespace {

class PlanExportEditTest : public ::testing::Test {
 protected:
  // Two filesystems on volumes of their own, exports u04 and u05 of them; vnfs1 serves u04.
  void SetUp() override {
    builder.basics();
    builder.apply([](const ClusterView& v) {
      return plan_volume_create(v, {"v2", {"LUN2"}, 1 << 20, Uuid::generate()});
    });
    builder.filesystem("u05", "v2");
    builder.apply([](const ClusterView& v) {
      return plan_export_create(v, {"u05", "u05", "/", {"*"}, "rw", "root"});
    });
    builder.vnfs1();
  }
  static ExportEdit edit(std::optional<std::string> pseudo = std::nullopt) {
    ExportEdit e;
    e.name = "u04";
    e.pseudo = std::move(pseudo);
    return e;
  }
  void add(const std::string& name) {
    builder.apply([&](const ClusterView& v) { return plan_export_add(v, name, {"vnfs1"}); });
  }
  std::vector<std::string> exports() {
    const auto view = builder.view();
    const auto& names = view.vnfses.at("vnfs1").record.exports();
    return {names.begin(), names.end()};
  }
  std::vector<std::string> volumes() {
    const auto view = builder.view();
    return volumes_of_vnfs(view, view.vnfses.at("vnfs1").record);
  }
  // The LUNs that its head has open.
  void opens(std::vector<std::string> luns) {
    records::HeadRecord head = builder.view().heads.at("c1n1").record;
    head.clear_luns();
    head.set_luns_known(true);
    for (const std::string& lun : luns) head.add_luns(builder.view().luns.at(lun).record.uuid());
    builder.put(kv::keys::kHeads + "c1n1", head.SerializeAsString());
  }
  ViewBuilder builder;
};

using Texts = std::vector<std::string>;

TEST_F(PlanExportEditTest, WhatIsNotGivenStays) {
  ExportEdit e = edit();
  e.access = "ro";
  builder.apply([&](const ClusterView& v) { return plan_export_set(v, e); });
  const records::ExportRecord record = builder.view().exports.at("u04").record;
  EXPECT_EQ(record.access(), records::ACCESS_RO);
  EXPECT_EQ(record.squash(), records::SQUASH_ROOT);
  ASSERT_EQ(record.clients_size(), 1);
  EXPECT_EQ(record.clients(0), "10.0.0.0/24");
  EXPECT_EQ(pseudo_of(record), "/u04");
  EXPECT_EQ(record.export_id(), 1u);
}

TEST_F(PlanExportEditTest, RulesOfClients) {
  const auto rules_after = [&](Texts rules) {
    ExportEdit e = edit();
    e.rules = std::move(rules);
    builder.apply([&](const ClusterView& v) { return plan_export_set(v, e); });
    const ClusterView view = builder.view();
    return view.exports.at("u04").record;
  };
  records::ExportRecord record =
      rules_after({"DB1.example.org:rw,no_root_squash,anonuid=5,anongid=6", "fd00::7",
                   "fd00:1::/64:ro", "@Friends:all_squash", "*.example.org", "*:ro"});
  ASSERT_EQ(record.rules_size(), 6);
  EXPECT_EQ(record.rules(0).who(), "db1.example.org");
  EXPECT_EQ(record.rules(0).access(), records::ACCESS_RW);
  EXPECT_EQ(record.rules(0).squash(), records::SQUASH_NONE);
  EXPECT_EQ(record.rules(0).anon_uid(), 5u);
  EXPECT_EQ(record.rules(0).anon_gid(), 6u);
  EXPECT_EQ(record.rules(1).who(), "fd00::7/128");
  EXPECT_FALSE(record.rules(1).has_access());
  EXPECT_EQ(record.rules(2).who(), "fd00:1::/64");
  EXPECT_EQ(record.rules(2).access(), records::ACCESS_RO);
  EXPECT_EQ(record.rules(3).who(), "@Friends");
  EXPECT_EQ(names_in_rules(record), (Texts{"db1.example.org", "*.example.org", "@Friends"}));
  EXPECT_EQ(record.clients(0), "10.0.0.0/24");  // stays
  EXPECT_EQ(rules_after({""}).rules_size(), 0);
}

TEST_F(PlanExportEditTest, AnonymousIds) {
  const auto anon_after = [&](const char* text) {
    ExportEdit e = edit();
    e.anon = text;
    builder.apply([&](const ClusterView& v) { return plan_export_set(v, e); });
    const AnonymousIds anon = anonymous_ids(builder.view().exports.at("u04").record);
    return std::pair(anon.uid, anon.gid);
  };
  EXPECT_EQ(anon_after("0:4294967294"), std::pair(0u, 4294967294u));
  EXPECT_EQ(anon_after(""), std::pair(65534u, 65534u));
}

TEST_F(PlanExportEditTest, ClientsAreReplaced) {
  ExportEdit e = edit();
  e.clients = Texts{"10.1.0.0/16", "10.2.0.1"};
  builder.apply([&](const ClusterView& v) { return plan_export_set(v, e); });
  const records::ExportRecord record = builder.view().exports.at("u04").record;
  EXPECT_EQ(Texts(record.clients().begin(), record.clients().end()),
            (Texts{"10.1.0.0/16", "10.2.0.1/32"}));
}

TEST_F(PlanExportEditTest, WhatCannotBeIsRefused) {
  const ClusterView view = builder.view();
  const auto with = [&](auto change) {
    ExportEdit e = edit();
    change(e);
    return code_of(plan_export_set(view, e));
  };
  EXPECT_EQ(with([](auto& e) { e.name = "none"; }), ErrorCode::kNotFound);
  EXPECT_EQ(with([](auto&) {}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& e) { e.clients = Texts{}; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& e) { e.clients = Texts{"no.such.host"}; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& e) { e.access = "x"; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& e) { e.squash = "x"; }), ErrorCode::kInvalidArgument);
  for (const char* rule : {"10.0.0.1/24", "host:rw,quick", "host:anonuid=x", "@", "@a b", "a b",
                           "*\"x", "10.0.0.0/24", "x\\y", "10.0.0.0/33:ro", ":rw"}) {
    EXPECT_EQ(with([&](auto& e) { e.rules = Texts{rule}; }), ErrorCode::kInvalidArgument) << rule;
  }
  EXPECT_EQ(with([](auto& e) { e.rules = Texts{"h", "H:ro"}; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& e) { e.manage_gids = "x"; }), ErrorCode::kInvalidArgument);
  for (const char* anon : {"1", "1:", ":1", "-2:-2", "1:4294967295", "nobody:nobody", "1:2:3"}) {
    EXPECT_EQ(with([&](auto& e) { e.anon = anon; }), ErrorCode::kInvalidArgument) << anon;
  }
  for (const char* pseudo : {"/", "relative", "/a\"b", "/../a", "/a\nb"}) {
    EXPECT_EQ(with([&](auto& e) { e.pseudo = pseudo; }), ErrorCode::kInvalidArgument) << pseudo;
  }
}

TEST_F(PlanExportEditTest, NoPathHidesAnother) {
  add("u05");
  const auto set = [&](const char* pseudo) {
    return plan_export_set(builder.view(), edit(pseudo));
  };
  EXPECT_EQ(code_of(set("/u05")), ErrorCode::kBusy);
  EXPECT_EQ(code_of(set("/u05/below")), ErrorCode::kBusy);
  EXPECT_TRUE(set("/u055"));
  builder.apply([](const ClusterView& v) { return plan_export_set(v, edit("//db//x/")); });
  EXPECT_EQ(pseudo_of(builder.view().exports.at("u04").record), "/db/x");
  builder.apply([](const ClusterView& v) { return plan_export_set(v, edit("")); });
  EXPECT_EQ(pseudo_of(builder.view().exports.at("u04").record), "/u04");
}

TEST_F(PlanExportEditTest, OneLiesInsideAnother) {
  ExportRequest inner = ViewBuilder::exported();
  inner.name = "inner";
  inner.path = "/dir/sub";
  inner.pseudo = "/u04/dir/sub";
  builder.apply([&](const ClusterView& v) { return plan_export_create(v, inner); });
  add("inner");
  // What is around comes first, goes last, and stays where it is.
  EXPECT_EQ(code_of(plan_export_take_off(builder.view(), "u04", {"vnfs1"})), ErrorCode::kBusy);
  EXPECT_EQ(code_of(plan_export_set(builder.view(), edit("/elsewhere"))), ErrorCode::kBusy);
  ExportEdit access = edit("/u04");
  access.access = "ro";
  EXPECT_TRUE(plan_export_set(builder.view(), access));
  add("u05");
  builder.apply([](const ClusterView& v) { return plan_export_take_off(v, "inner", {"vnfs1"}); });
  builder.apply([](const ClusterView& v) { return plan_export_take_off(v, "u04", {"vnfs1"}); });
  add("inner");
  EXPECT_EQ(code_of(plan_export_add(builder.view(), "u04", {"vnfs1"})), ErrorCode::kBusy);
}

TEST_F(PlanExportEditTest, ANewVnfsHidesNoneEither) {
  builder.apply([](const ClusterView& v) { return plan_export_set(v, edit("/u05/x")); });
  VnfsRequest r = ViewBuilder::vnfs();
  r.name = "vnfs2";
  r.vips = {"10.0.0.102/24"};
  r.exports = {"u04", "u05"};
  EXPECT_EQ(code_of(plan_vnfs_create(builder.view(), r)), ErrorCode::kBusy);
  EXPECT_EQ(code_of(plan_export_add(builder.view(), "u05", {"vnfs1"})), ErrorCode::kBusy);
}

TEST_F(PlanExportEditTest, IsServedByMoreAndFewer) {
  add("u05");
  EXPECT_EQ(exports(), (Texts{"u04", "u05"}));
  EXPECT_EQ(code_of(plan_export_add(builder.view(), "u05", {"vnfs1"})), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code_of(plan_export_add(builder.view(), "u05", {"vnfs9"})), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(plan_export_add(builder.view(), "u05", {})), ErrorCode::kInvalidArgument);
  builder.apply([](const ClusterView& v) { return plan_export_take_off(v, "u04", {"vnfs1"}); });
  EXPECT_EQ(exports(), Texts{"u05"});
  EXPECT_TRUE(builder.view().exports.contains("u04"));
  EXPECT_EQ(code_of(plan_export_take_off(builder.view(), "u04", {"vnfs1"})), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(plan_export_take_off(builder.view(), "u05", {"vnfs1"})), ErrorCode::kBusy);
  EXPECT_EQ(code_of(plan_export_remove(builder.view(), "u05")), ErrorCode::kBusy);
}

TEST_F(PlanExportEditTest, RemovalTakesItOffEverybody) {
  add("u05");
  builder.apply([](const ClusterView& v) { return plan_export_remove(v, "u04"); });
  EXPECT_EQ(exports(), Texts{"u05"});
  EXPECT_FALSE(builder.view().exports.contains("u04"));
}

TEST_F(PlanExportEditTest, TheOwnerMustHaveItsLunsOpen) {
  builder.owner("vnfs1", "c1n1");
  opens({"LUN0", "LUN1"});
  EXPECT_EQ(code_of(plan_export_add(builder.view(), "u05", {"vnfs1"})), ErrorCode::kBusy);
  opens({"LUN0", "LUN1", "LUN2"});
  EXPECT_TRUE(plan_export_add(builder.view(), "u05", {"vnfs1"}));
}

// The instance keeps the filesystem mounted: proof of its end must cover those LUNs, too.
TEST_F(PlanExportEditTest, WhatTheInstanceStillHasMountedIsKeptInMind) {
  add("u05");
  builder.owner("vnfs1", "c1n1");  // epoch 7
  EXPECT_EQ(volumes(), (Texts{"v1", "v2"}));
  builder.apply([](const ClusterView& v) { return plan_export_remove(v, "u05"); });
  EXPECT_EQ(exports(), Texts{"u04"});
  EXPECT_EQ(volumes(), (Texts{"v1", "v2"}));
  records::OwnerRecord next;
  next.set_head("c1n1");
  next.set_epoch(8);
  builder.put(kv::keys::kOwners + "vnfs1", next.SerializeAsString());
  EXPECT_EQ(volumes(), Texts{"v1"});
}

TEST_F(PlanExportEditTest, IsNotTakenOffAnInstanceThatBeganMeanwhile) {
  add("u05");
  bool raced = false;
  const auto planner = [&](const ClusterView& v) {
    auto change = plan_export_take_off(v, "u05", {"vnfs1"});
    if (!std::exchange(raced, true)) builder.owner("vnfs1", "c1n1");
    return change;
  };
  ASSERT_TRUE(make_change(builder.store, planner, Mode::kCommit));
  EXPECT_EQ(volumes(), (Texts{"v1", "v2"}));
}

TEST_F(PlanExportEditTest, AnEditIsTakenBackAsItWas) {
  builder.owner("vnfs1", "c1n1");
  opens({"LUN0", "LUN1", "LUN2"});
  const auto undo = [&](const Planner& planner) {
    const ClusterView before = builder.view();
    Change change;
    builder.apply([&](const ClusterView& v) {
      auto planned = planner(v);
      change = *planned;
      return planned;
    });
    builder.apply([&](const ClusterView& v) { return plan_exports_undone(v, before, change); });
    const ClusterView view = builder.view();
    EXPECT_EQ(exports_digest(view, view.vnfses.at("vnfs1").record),
              exports_digest(before, before.vnfses.at("vnfs1").record));
  };
  undo([](const ClusterView& v) { return plan_export_set(v, edit("/other")); });
  EXPECT_EQ(volumes(), Texts{"v1"});
  undo([](const ClusterView& v) { return plan_export_add(v, "u05", {"vnfs1"}); });
  EXPECT_EQ(exports(), Texts{"u04"});
  EXPECT_EQ(volumes(), (Texts{"v1", "v2"}));  // it may have been mounted
  add("u05");
  undo([](const ClusterView& v) { return plan_export_remove(v, "u04"); });
  EXPECT_EQ(exports(), (Texts{"u04", "u05"}));
  EXPECT_EQ(builder.view().exports.at("u04").record.export_id(), 1u);
}

TEST_F(PlanExportEditTest, WhatSomebodyElseHasChangedIsNotTakenBack) {
  const ClusterView before = builder.view();
  Change change;
  builder.apply([&](const ClusterView& v) {
    auto planned = plan_export_set(v, edit("/other"));
    change = *planned;
    return planned;
  });
  builder.apply([](const ClusterView& v) { return plan_export_set(v, edit("/third")); });
  EXPECT_EQ(code_of(plan_exports_undone(builder.view(), before, change)), ErrorCode::kConflict);
}

// Two exports at one path: ganesha does not even start with them.
TEST_F(PlanExportEditTest, APathThatAnotherExportHasByNowIsNotTakenBack) {
  add("u05");
  const ClusterView before = builder.view();
  Change change;
  builder.apply([&](const ClusterView& v) {
    auto planned = plan_export_set(v, edit("/other"));
    change = *planned;
    return planned;
  });
  builder.apply([](const ClusterView& v) {
    ExportEdit e;
    e.name = "u05";
    e.pseudo = "/u04";
    return plan_export_set(v, e);
  });
  const auto undone = plan_exports_undone(builder.view(), before, change);
  EXPECT_EQ(code_of(undone), ErrorCode::kConflict);
  EXPECT_NE(undone.error().message.find("one would hide the other"), std::string::npos);
}

}  // namespace
}  // namespace symnas::vnfsd

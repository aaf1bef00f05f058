#include "vnfsd/plans/plans.h"

#include "tests/unit/vnfsd/plans/view_builder.h"

namespace symnas::vnfsd {
namespace {

class PlansTest : public ::testing::Test {
 protected:
  void SetUp() override { builder.basics(); }
  ViewBuilder builder;
};

TEST_F(PlansTest, LunIsImportedOnce) {
  cvm::records::LunRecord lun = builder.view().luns.at("LUN3").record;
  EXPECT_EQ(code_of(plan_lun_import(builder.view(), lun, "c1n1", "/x")), ErrorCode::kAlreadyExists);
  lun.set_name("OTHER");  // the same device by another name
  EXPECT_EQ(code_of(plan_lun_import(builder.view(), lun, "c1n1", "/x")), ErrorCode::kAlreadyExists);
}

TEST_F(PlansTest, LunOfOneIdentificationIsImportedOnce) {
  cvm::records::LunRecord lun;
  lun.set_uuid(std::string(16, 'u'));
  lun.set_identification("naa.1");
  lun.set_name("LUN7");
  builder.apply([&](const ClusterView& v) { return plan_lun_import(v, lun, "c1n1", "/x"); });
  lun.set_uuid(std::string(16, 'w'));
  lun.set_name("LUN8");
  EXPECT_EQ(code_of(plan_lun_import(builder.view(), lun, "c1n1", "/x")), ErrorCode::kAlreadyExists);
  lun.set_identification("naa.2");
  EXPECT_TRUE(plan_lun_import(builder.view(), lun, "c1n1", "/x"));
}

// From the fence record to the end records the LUNs stay as they are.
TEST_F(PlansTest, NoLunComesOrGoesWhileAHeadIsFenced) {
  cvm::records::LunRecord lun;
  lun.set_uuid(std::string(16, 'u'));
  lun.set_name("LUN7");
  const std::vector<std::pair<std::string, Planner>> planners = {
      {"import", [&](const ClusterView& v) { return plan_lun_import(v, lun, "c1n1", "/x"); }},
      {"release", [](const ClusterView& v) { return plan_lun_release(v, "LUN3"); }},
      {"grow", [](const ClusterView& v) {
         return plan_volume_grow(v, {"v1", {"LUN2"}, 0, {}});
       }}};
  const auto fence = [&](records::FenceState state) {
    records::FenceRecord record;
    record.set_head("c1n2");
    record.set_by("c1n3");
    record.set_state(state);
    builder.put(kv::keys::kFences + "c1n2", record.SerializeAsString());
  };
  for (const auto& [name, planner] : planners) {
    SCOPED_TRACE(name);
    fence(records::FENCE_RUNNING);
    const auto refused = planner(builder.view());
    EXPECT_EQ(code_of(refused), ErrorCode::kBusy);
    EXPECT_NE(refused.error().message.find("symnas head fence c1n2 --yes"), std::string::npos);
    fence(records::FENCE_PROVEN);
    EXPECT_EQ(code_of(planner(builder.view())), ErrorCode::kBusy);
    fence(records::FENCE_FAILED);
    EXPECT_TRUE(planner(builder.view()));
    fence(records::FENCE_DONE);
    EXPECT_TRUE(planner(builder.view()));
    // One that begins after the plan was made.
    int made = 0;
    const auto late = make_change(
        builder.store,
        [&](const ClusterView& view) {
          auto change = planner(view);
          if (made++ == 0) fence(records::FENCE_RUNNING);
          return change;
        },
        Mode::kCommit);
    EXPECT_EQ(code_of(late), ErrorCode::kBusy);
    EXPECT_EQ(made, 2);
  }
}

TEST_F(PlansTest, ImportRemembersThePathOnce) {
  EXPECT_EQ(builder.view().heads.at("c1n1").record.lun_paths_size(), 1);  // four LUNs from "/l"
}

TEST_F(PlansTest, UsedLunIsNotReleased) {
  EXPECT_EQ(code_of(plan_lun_release(builder.view(), "LUN0")), ErrorCode::kBusy);
  EXPECT_EQ(code_of(plan_lun_release(builder.view(), "LUN9")), ErrorCode::kNotFound);
  EXPECT_TRUE(plan_lun_release(builder.view(), "LUN3"));
}

TEST_F(PlansTest, VolumeTakesFreeLunsOnly) {
  const ClusterView view = builder.view();
  EXPECT_EQ(view.luns.at("LUN0").record.volume(), "v1");
  VolumeRequest r{"v2", {"LUN2", "LUN3"}, 1 << 20, Uuid::generate()};
  EXPECT_TRUE(plan_volume_create(view, r));
  r.luns = {"LUN1", "LUN2"};
  EXPECT_EQ(code_of(plan_volume_create(view, r)), ErrorCode::kBusy);
  r.luns = {"LUN2", "LUN2"};
  EXPECT_EQ(code_of(plan_volume_create(view, r)), ErrorCode::kInvalidArgument);
  r.luns = {"LUN9"};
  EXPECT_EQ(code_of(plan_volume_create(view, r)), ErrorCode::kNotFound);
  r.luns = {};
  EXPECT_EQ(code_of(plan_volume_create(view, r)), ErrorCode::kInvalidArgument);
}

TEST_F(PlansTest, StripeUnitIsAPowerOfTwoInItsBounds) {
  for (const std::uint64_t unit : {0ull, 1ull, 100'000ull, 32ull << 10, 32ull << 20, 1ull << 40}) {
    EXPECT_EQ(code_of(plan_volume_create(builder.view(), {"v2", {"LUN2"}, unit, {}})),
              ErrorCode::kInvalidArgument)
        << unit;
  }
}

TEST_F(PlansTest, VolumeGrowsByASegment) {
  builder.apply([](const ClusterView& v) {
    return plan_volume_grow(v, {"v1", {"LUN2", "LUN3"}, 0, {}});
  });
  const ClusterView view = builder.view();
  EXPECT_EQ(view.volumes.at("v1").record.segments_size(), 2);
  EXPECT_EQ(view.luns.at("LUN3").record.volume(), "v1");
  EXPECT_EQ(luns_of_volume(view, "v1").size(), 4u);
  EXPECT_EQ(code_of(plan_volume_grow(view, {"v9", {"LUN2"}, 0, {}})), ErrorCode::kNotFound);
}

TEST_F(PlansTest, VolumeGrowsOnlyByWhatEveryServingHeadSees) {
  builder.head("c1n2", "10.99.0.2").vnfs1().owner("vnfs1", "c1n2");
  const auto grow = [](const ClusterView& v) {
    return plan_volume_grow(v, {"v1", {"LUN2", "LUN3"}, 0, {}});
  };
  const auto refused = grow(builder.view());
  ASSERT_EQ(code_of(refused), ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("head c1n2"), std::string::npos);
  EXPECT_NE(refused.error().message.find("LUN2"), std::string::npos);
  const auto sees = [&](const char* head, std::vector<std::string> luns) {
    records::HeadRecord record = builder.view().heads.at(head).record;
    record.clear_luns();
    for (const std::string& lun : luns) record.add_luns(builder.view().luns.at(lun).record.uuid());
    builder.put(kv::keys::kHeads + head, record.SerializeAsString());
  };
  sees("c1n1", {"LUN2", "LUN3"});  // serves nothing
  sees("c1n2", {"LUN0", "LUN1", "LUN2"});
  EXPECT_EQ(code_of(grow(builder.view())), ErrorCode::kBusy);
  sees("c1n2", {"LUN0", "LUN1", "LUN2", "LUN3"});
  // It loses one of them between plan and commit: the change is planned anew, and refused.
  bool raced = false;
  const auto racing = [&](const ClusterView& v) {
    auto change = grow(v);
    if (!std::exchange(raced, true)) sees("c1n2", {"LUN0"});
    return change;
  };
  EXPECT_EQ(code_of(make_change(builder.store, racing, Mode::kCommit)), ErrorCode::kBusy);
  sees("c1n2", {"LUN2", "LUN3"});
  builder.apply(grow);
}

TEST_F(PlansTest, VnfsesOfSeveralHeadsShareAnExport) {
  builder.head("c1n2", "10.99.0.2").vnfs1();
  builder.apply([](const ClusterView& v) {
    return plan_vnfs_create(v, {"vnfs2", {"10.0.0.102/24"}, {"nfs0"}, {"u04"}, {"c1n2"}});
  });
  const ClusterView view = builder.view();
  for (const char* vnfs : {"vnfs1", "vnfs2"}) {
    EXPECT_EQ(volumes_of_vnfs(view, view.vnfses.at(vnfs).record), std::vector<std::string>{"v1"});
  }
  EXPECT_EQ(code_of(plan_export_remove(view, "u04")), ErrorCode::kBusy);
}

TEST_F(PlansTest, VolumeWithFilesystemStays) {
  EXPECT_EQ(code_of(plan_volume_remove(builder.view(), "v1")), ErrorCode::kBusy);
}

TEST_F(PlansTest, RemovedVolumeFreesItsLunsUnlessAFilesystemAppears) {
  builder.apply([](const ClusterView& v) {
    return plan_volume_create(v, {"v2", {"LUN2", "LUN3"}, 1 << 20, Uuid::generate()});
  });
  bool raced = false;
  const auto planner = [&](const ClusterView& v) {
    auto change = plan_volume_remove(v, "v2");
    if (!std::exchange(raced, true)) builder.filesystem("u05", "v2");
    return change;
  };
  // The filesystem was made between plan and commit: only the range compare can see it.
  EXPECT_EQ(code_of(make_change(builder.store, planner, Mode::kCommit)), ErrorCode::kBusy);
  EXPECT_EQ(builder.view().luns.at("LUN2").record.volume(), "v2");
}

TEST_F(PlansTest, FilesystemsAreChecked) {
  const ClusterView view = builder.view();
  const auto create = [&](const char* name, const char* volume) {
    fs::FormatOptions options;
    options.name = name;
    options.volume = volume;
    return check_filesystem_create(view, options);
  };
  EXPECT_EQ(code_of(create("u04", "v1")), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code_of(create("u05", "v1")), ErrorCode::kBusy);
  EXPECT_EQ(code_of(create("u05", "v9")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(create("u/5", "v1")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(check_filesystem_remove(view, "u04")), ErrorCode::kBusy);
  EXPECT_EQ(code_of(check_filesystem_remove(view, "u05")), ErrorCode::kNotFound);
}

TEST_F(PlansTest, ExportIdsAreNeverReused) {
  EXPECT_EQ(builder.view().exports.at("u04").record.export_id(), 1u);
  builder.apply([](const ClusterView& v) { return plan_export_remove(v, "u04"); });
  builder.apply(
      [](const ClusterView& v) { return plan_export_create(v, ViewBuilder::exported()); });
  EXPECT_EQ(builder.view().exports.at("u04").record.export_id(), 2u);
}

TEST_F(PlansTest, ExportIsChecked) {
  const ClusterView view = builder.view();
  const auto with = [&](auto change) {
    ExportRequest r = ViewBuilder::exported();
    r.name = "other";
    change(r);
    return code_of(plan_export_create(view, r));
  };
  EXPECT_EQ(with([](auto& r) { r.name = "u04"; }), ErrorCode::kAlreadyExists);
  EXPECT_EQ(with([](auto& r) { r.filesystem = "x"; }), ErrorCode::kNotFound);
  EXPECT_EQ(with([](auto& r) { r.path = "rel"; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& r) { r.clients = {}; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& r) { r.clients = {"x"}; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& r) {
              r.clients = {"10.0.0.1", "10.0.0.1/32"};
            }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& r) { r.access = "w"; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& r) { r.squash = "some"; }), ErrorCode::kInvalidArgument);
}

TEST_F(PlansTest, ExportOfAFilesystemThatIsBeingRemovedIsRefused) {
  auto record = builder.view().filesystems.at("u04").record;
  record.set_removing(true);
  builder.put(kv::keys::kFilesystems + "u04", record.SerializeAsString());
  ExportRequest r = ViewBuilder::exported();
  r.name = "other";
  EXPECT_EQ(code_of(plan_export_create(builder.view(), r)), ErrorCode::kBusy);
}

TEST_F(PlansTest, VnfsIsChecked) {
  builder.vnfs1();
  const ClusterView view = builder.view();
  const auto with = [&](auto change) {
    VnfsRequest r = ViewBuilder::vnfs();
    r.name = "vnfs2";
    r.vips = {"10.0.0.102/24"};
    change(r);
    return code_of(plan_vnfs_create(view, r));
  };
  EXPECT_EQ(with([](auto& r) { r.name = "vnfs1"; }), ErrorCode::kAlreadyExists);
  EXPECT_EQ(with([](auto& r) { r.name = "v_1"; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& r) { r.vips = {"10.0.0.101/24"}; }), ErrorCode::kBusy);
  EXPECT_EQ(with([](auto& r) { r.vips = {"10.0.0.101/16"}; }), ErrorCode::kBusy);
  EXPECT_EQ(with([](auto& r) { r.vips = {"10.99.0.1/24"}; }), ErrorCode::kBusy);
  EXPECT_EQ(with([](auto& r) {
              r.vips = {"10.0.0.9/24", "10.0.0.9/16"};
            }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& r) { r.vips = {}; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& r) {
              r.vips = {"10.0.0.1/24", "10.0.0.2/24", "10.0.0.3/24", "10.0.0.4/24", "10.0.0.5/24"};
            }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& r) { r.networks = {"x"}; }), ErrorCode::kNotFound);
  EXPECT_EQ(with([](auto& r) { r.networks = {"nfs0", "nfs0"}; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& r) { r.exports = {"x"}; }), ErrorCode::kNotFound);
  EXPECT_EQ(with([](auto& r) { r.exports = {"u04", "u04"}; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with([](auto& r) { r.heads = {"c1n2"}; }), ErrorCode::kNotFound);
  EXPECT_EQ(with([](auto& r) { r.heads = {}; }), ErrorCode::kInvalidArgument);
}

TEST_F(PlansTest, VnfsGoesOnlyWhenStoppedAndNotOwned) {
  builder.vnfs1().owner("vnfs1", "c1n1");
  EXPECT_EQ(code_of(plan_vnfs_remove(builder.view(), "vnfs1")), ErrorCode::kBusy);
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  EXPECT_EQ(code_of(plan_vnfs_remove(builder.view(), "vnfs1")), ErrorCode::kBusy);
  kv::Txn released;
  released.success.push_back(kv::erase(kv::keys::kOwners + "vnfs1"));
  ASSERT_TRUE(kv::txn_blocking(builder.store, released, kTestDeadlineMs));
  builder.apply([](const ClusterView& v) { return plan_vnfs_remove(v, "vnfs1"); });
  EXPECT_TRUE(builder.view().vnfses.empty());
}

TEST_F(PlansTest, VnfsIdIsNeverReused) {
  builder.vnfs1();
  EXPECT_EQ(builder.view().vnfses.at("vnfs1").record.vnfs_id(), 1u);
  EXPECT_EQ(builder.view().counters.at("vnfs").record, 2u);
}

class RehostTest : public PlansTest {
 protected:
  void SetUp() override {
    PlansTest::SetUp();
    builder.three_heads().vnfs1({"c1n1", "c1n2"});
    builder.owner("vnfs1", "c1n1");
    for (const char* name : {"c1n1", "c1n2", "c1n3"}) edit(name, [](auto&) {});
  }
  // With the volume's LUNs open, unless the edit says otherwise.
  template <class Edit>
  void edit(const std::string& name, const Edit& change) {
    const ClusterView view = builder.view();
    records::HeadRecord head = view.heads.at(name).record;
    head.clear_luns();
    for (const auto* lun : luns_of_volume(view, "v1")) head.add_luns(lun->uuid());
    change(head);
    builder.put(kv::keys::kHeads + name, head.SerializeAsString());
  }
  Result<Change> rehost(const std::string& head) {
    return plan_vnfs_rehost(builder.view(), "vnfs1", head, 7);
  }
  void order(const std::string& head) {
    builder.apply([&](const ClusterView& v) { return plan_vnfs_rehost(v, "vnfs1", head, 7); });
  }
  void answer(const std::string& incarnation) {
    records::MoveRecord move = builder.view().moves.at("vnfs1").record;
    move.set_ready_incarnation(incarnation);
    builder.put(kv::keys::kMoves + "vnfs1", move.SerializeAsString());
  }
  std::string place() { return ha::plan(facts_of(builder.view())).at("vnfs1").head; }
};

TEST_F(RehostTest, MovesOnlyWhenTheTargetHasAnswered) {
  order("c1n2");
  const auto move = builder.view().moves.at("vnfs1").record;
  EXPECT_EQ(move.from(), "c1n1");
  EXPECT_EQ(move.ordered_ns(), 7);
  EXPECT_EQ(place(), "c1n1");
  answer("an older boot");
  EXPECT_EQ(place(), "c1n1");
  answer("boot of c1n2");
  EXPECT_EQ(place(), "c1n2");
}

TEST_F(RehostTest, RefusesWhatCannotBeMeant) {
  EXPECT_EQ(code_of(rehost("c1n9")), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(rehost("c1n3")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(rehost("c1n1")), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code_of(plan_vnfs_rehost(builder.view(), "vnfs9", "c1n2", 7)), ErrorCode::kNotFound);
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  EXPECT_EQ(code_of(rehost("c1n2")), ErrorCode::kBusy);
}

TEST_F(RehostTest, RefusesAHeadThatCannotServe) {
  edit("c1n2", [](auto& head) { head.clear_luns(); });
  const auto blind = rehost("c1n2");
  EXPECT_EQ(code_of(blind), ErrorCode::kBusy);
  EXPECT_NE(blind.error().message.find("LUN0, LUN1"), std::string::npos) << blind.error().message;
  edit("c1n2", [](auto& head) { head.clear_incarnation(); });
  EXPECT_EQ(code_of(rehost("c1n2")), ErrorCode::kBusy);
  edit("c1n2", [](auto&) {});
  records::FenceRecord fence;
  fence.set_head("c1n2");
  fence.set_incarnation("boot of c1n2");
  builder.put(kv::keys::kFences + "c1n2", fence.SerializeAsString());
  EXPECT_EQ(code_of(rehost("c1n2")), ErrorCode::kBusy);
}

TEST_F(RehostTest, OneOrderAtATime) {
  order("c1n2");
  EXPECT_EQ(code_of(rehost("c1n2")), ErrorCode::kBusy);
  builder.apply([](const ClusterView& v) { return plan_vnfs_stay(v, "vnfs1"); });
  EXPECT_EQ(code_of(plan_vnfs_stay(builder.view(), "vnfs1")), ErrorCode::kNotFound);
  order("c1n2");
  answer("boot of c1n2");
  EXPECT_EQ(code_of(plan_vnfs_stay(builder.view(), "vnfs1")), ErrorCode::kBusy);
}

TEST_F(RehostTest, AStopEndsTheOrder) {
  order("c1n2");
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  EXPECT_TRUE(builder.view().moves.empty());
}

TEST_F(RehostTest, AKillMeansThatInstanceOnly) {
  builder.apply([](const ClusterView& v) { return plan_vnfs_kill(v, "vnfs1"); });
  EXPECT_EQ(builder.view().vnfses.at("vnfs1").record.killed_epoch(), 7u);
  order("c1n2");
  EXPECT_EQ(code_of(plan_vnfs_kill(builder.view(), "vnfs1")), ErrorCode::kBusy);
  EXPECT_EQ(code_of(plan_vnfs_kill(builder.view(), "none")), ErrorCode::kNotFound);
}

TEST_F(PlansTest, VolumesOfAVnfs) {
  builder.vnfs1();
  const ClusterView view = builder.view();
  EXPECT_EQ(volumes_of_vnfs(view, view.vnfses.at("vnfs1").record), std::vector<std::string>{"v1"});
}

}  // namespace
}  // namespace symnas::vnfsd

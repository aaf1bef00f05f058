#include "vnfsd/plans/plan_keytab.h"

#include <gtest/gtest.h>

#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/plans/exports.h"

namespace symnas::vnfsd {
namespace {

records::KeytabRecord sealed(std::int64_t set_ns = 1, const std::string& box = "box") {
  records::KeytabRecord record;
  record.set_set_ns(set_ns);
  records::KeytabKey& key = *record.add_keys();
  key.set_principal("nfs/vnfs1.x.org@X.ORG");
  key.set_kvno(3);
  key.set_enctype(18);
  record.set_box(box);
  (*record.mutable_wrapped_for())["c1n1"] = "key of c1n1";
  return record;
}

class PlanKeytabTest : public testing::Test {
 protected:
  PlanKeytabTest() {
    builder.basics();
    builder.apply([](const ClusterView& v) {
      VnfsRequest r;
      r.name = "vnfs1";
      r.vips = {"10.0.0.101/24"};
      r.networks = {"nfs0"};
      r.exports = {"u04"};
      r.heads = {"c1n1"};
      return plan_vnfs_create(v, r);
    });
  }
  void set_keytab(std::int64_t set_ns = 1, const std::string& box = "box") {
    builder.apply(
        [&](const ClusterView& v) { return plan_keytab_set(v, "vnfs1", sealed(set_ns, box)); });
  }
  std::string digest() {
    const ClusterView view = builder.view();
    return exports_digest(view, view.vnfses.at("vnfs1").record);
  }
  ViewBuilder builder;
};

TEST_F(PlanKeytabTest, SetSaysWhatTheKeysAre) {
  const auto change = plan_keytab_set(builder.view(), "vnfs1", sealed());
  ASSERT_TRUE(change);
  EXPECT_EQ(change->what,
            "vnfs vnfs1: its keytab has nfs/vnfs1.x.org@X.ORG kvno 3 aes256-cts-hmac-sha1-96");
  EXPECT_EQ(plan_keytab_set(builder.view(), "nobody", sealed()).error().code, ErrorCode::kNotFound);
}

TEST_F(PlanKeytabTest, NeedsTheClustersLevel) {
  ClusterView view = builder.view();
  view.cluster.record.set_level(level::kKerberos - 1);
  EXPECT_EQ(plan_keytab_set(view, "vnfs1", sealed()).error().code, ErrorCode::kNotSupported);
}

TEST_F(PlanKeytabTest, IsPartOfWhatTheInstanceServes) {
  const std::string without = digest();
  set_keytab();
  const std::string with = digest();
  EXPECT_NE(with, without);
  set_keytab(2);
  EXPECT_NE(digest(), with);
  set_keytab(1, "sealed anew");
  EXPECT_EQ(digest(), with);
  builder.apply([](const ClusterView& v) { return plan_keytab_remove(v, "vnfs1"); });
  EXPECT_EQ(digest(), without);
}

TEST_F(PlanKeytabTest, StaysWhileAnExportNeedsIt) {
  EXPECT_EQ(plan_keytab_remove(builder.view(), "vnfs1").error().code, ErrorCode::kNotFound);
  set_keytab();
  ExportEdit edit;
  edit.name = "u04";
  edit.sec = {"krb5", "sys"};
  builder.apply([&](const ClusterView& v) { return plan_export_set(v, edit); });
  EXPECT_TRUE(plan_keytab_remove(builder.view(), "vnfs1"));
  edit.sec = {"krb5"};
  builder.apply([&](const ClusterView& v) { return plan_export_set(v, edit); });
  EXPECT_EQ(plan_keytab_remove(builder.view(), "vnfs1").error().code, ErrorCode::kBusy);
}

TEST_F(PlanKeytabTest, AnExportThatNeedsItIsNotAddedWithoutIt) {
  builder.apply([](const ClusterView& v) {
    ExportRequest r;
    r.name = "secret";
    r.filesystem = "u04";
    r.path = "/secret";
    r.clients = {"*"};
    r.sec = {"krb5p"};
    return plan_export_create(v, r);
  });
  const auto refused = plan_export_add(builder.view(), "secret", {"vnfs1"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  EXPECT_NE(refused.error().message.find("symnas vnfs keytab set vnfs1"), std::string::npos);
  // A VNFS that is not there cannot have one yet.
  VnfsRequest r;
  r.name = "vnfs2";
  r.vips = {"10.0.0.102/24"};
  r.networks = {"nfs0"};
  r.exports = {"secret"};
  r.heads = {"c1n1"};
  const auto made = plan_vnfs_create(builder.view(), r);
  ASSERT_TRUE(made);
  EXPECT_NE(made->what.find("symnas vnfs keytab set vnfs2"), std::string::npos);
  set_keytab();
  EXPECT_TRUE(plan_export_add(builder.view(), "secret", {"vnfs1"}));
}

TEST_F(PlanKeytabTest, OwnersAreOfTheRealmOrOfWhatIsSet) {
  records::KeytabRecord keytab = sealed();
  EXPECT_EQ(owner_domain_of(keytab), "x.org");
  keytab.set_owner_domain("example.com");
  EXPECT_EQ(owner_domain_of(keytab), "example.com");
  EXPECT_EQ(owner_domain_of({}), "");
}

TEST_F(PlanKeytabTest, TheDigestSaysWhetherTheHeadCanOpenIt) {
  records::KeytabRecord keytab = sealed();
  const auto digest_on = [&](const std::string& head) {
    ClusterView view = builder.view();
    view.heads["c1n1"].record.set_seal_key("key of c1n1");
    view.heads["c1n2"].record.set_seal_key("key of c1n2");
    view.keytabs["vnfs1"].record = keytab;
    return exports_digest(view, view.vnfses.at("vnfs1").record, head);
  };
  const std::string closed = digest_on("c1n1");
  (*keytab.mutable_wraps())["c1n1"] = "wrap";
  const std::string open = digest_on("c1n1");
  EXPECT_NE(open, closed);
  // Others come and go.
  (*keytab.mutable_wraps())["c1n2"] = "wrap";
  (*keytab.mutable_wrapped_for())["c1n2"] = "a former key of c1n2";
  EXPECT_EQ(digest_on("c1n1"), open);
  EXPECT_EQ(digest_on("c1n2"), closed);
  (*keytab.mutable_wrapped_for())["c1n2"] = "key of c1n2";
  EXPECT_EQ(digest_on("c1n2"), open);
}

TEST_F(PlanKeytabTest, AnExportNeedsItOnEachVnfs) {
  ExportEdit edit;
  edit.name = "u04";
  edit.sec = {"krb5p"};
  EXPECT_EQ(plan_export_set(builder.view(), edit).error().code, ErrorCode::kBusy);
  edit.sec = {"krb5p", "sys"};
  EXPECT_TRUE(plan_export_set(builder.view(), edit));
  set_keytab();
  edit.sec = {"krb5p"};
  EXPECT_TRUE(plan_export_set(builder.view(), edit));
}

TEST_F(PlanKeytabTest, GoesWithTheVnfs) {
  set_keytab();
  builder.apply(
      [](const ClusterView& v) { return plan_vnfs_state(v, "vnfs1", WantedState::kStopped); });
  builder.apply([](const ClusterView& v) { return plan_vnfs_remove(v, "vnfs1"); });
  EXPECT_TRUE(builder.view().keytabs.empty());
}

TEST_F(PlanKeytabTest, AnEditThatIsTakenBackTakesTheKeytabBack) {
  const ClusterView before = builder.view();
  const auto change = plan_keytab_set(before, "vnfs1", sealed());
  ASSERT_TRUE(change);
  set_keytab();
  builder.apply([&](const ClusterView& v) { return plan_exports_undone(v, before, *change); });
  EXPECT_TRUE(builder.view().keytabs.empty());
  set_keytab(1, "sealed anew");
  builder.apply([&](const ClusterView& v) { return plan_exports_undone(v, before, *change); });
  EXPECT_TRUE(builder.view().keytabs.empty());
  set_keytab(2);  // somebody else's
  EXPECT_EQ(plan_exports_undone(builder.view(), before, *change).error().code,
            ErrorCode::kConflict);
}

TEST_F(PlanKeytabTest, IsSealedAnewWhenHeadsHaveOtherKeys) {
  set_keytab();
  ClusterView view = builder.view();
  view.heads["c1n1"].record.set_seal_key("key of c1n1");
  const records::KeytabRecord& keytab = view.keytabs.at("vnfs1").record;
  EXPECT_FALSE(needs_rewrap(view, keytab));
  view.heads["c1n2"].record.set_seal_key("key of c1n2");
  EXPECT_TRUE(needs_rewrap(view, keytab));
  view.heads.erase("c1n2");
  view.heads["c1n1"].record.set_seal_key("a new key");
  EXPECT_TRUE(needs_rewrap(view, keytab));
  view.heads["c1n1"].record.clear_seal_key();
  EXPECT_TRUE(seal_keys(view).empty());
}

}  // namespace
}  // namespace symnas::vnfsd

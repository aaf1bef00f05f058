// What keeps a VNFS from a head, against the planner and against the orders of administrators.
#include "vnfsd/plans/hindrances.h"

#include <functional>
#include <set>

#include "tests/unit/vnfsd/plans/cluster_views.h"

namespace symnas::vnfsd {
namespace {

using Kind = Hindrance::Kind;

std::vector<Kind> kinds_of(const std::vector<Hindrance>& found) {
  std::vector<Kind> kinds;
  for (const Hindrance& one : found) kinds.push_back(one.kind);
  return kinds;
}

std::vector<Hindrance> own(const ClusterView& view, const std::string& head,
                           const std::string& vnfs = "v1") {
  return own_hindrances(view, view.vnfses.at(vnfs).record, head, kViewNow);
}

// The VNFS alone, on a head that is being drained: its owner sends it to `head` if it may.
ClusterView to_be_sent(ClusterView view, const std::string& vnfs, const std::string& head) {
  records::VnfsRecord record = view.vnfses.at(vnfs).record;
  const bool is_its_head = std::ranges::find(record.heads(), head) != record.heads().end();
  record.clear_heads();
  if (is_its_head) record.add_heads(head);
  record.add_heads("away");
  record.set_stopped(false);
  record.set_failback(records::FAILBACK_MANUAL);
  view.vnfses.clear();
  view.vnfses[vnfs].record = record;
  view.moves.clear();
  records::HeadRecord& away = view.heads["away"].record;
  away.set_name("away");
  away.set_incarnation("boot of away");
  away.set_draining(true);
  view.owners.clear();
  view.owners[vnfs].record.set_head("away");
  return view;
}

TEST(HindrancesTest, ThePlannerSendsAVnfsExactlyWhereNothingKeepsItFrom) {
  int sent = 0;
  int kept = 0;
  for_each_pair([&](const ClusterView& view, const std::string& vnfs, const std::string& head) {
    const ClusterView then = to_be_sent(view, vnfs, head);
    Observed observed;
    observed.now_ns = kViewNow;
    const ha::Assignment assignment = ha::plan(facts_of(then, observed)).at(vnfs);
    const bool goes = assignment == ha::Assignment{head, ha::Reason::kDrained};
    const auto found = own(then, head, vnfs);
    EXPECT_EQ(goes, found.empty()) << (found.empty() ? "" : line_of(found.front()));
    (goes ? sent : kept) += 1;
  });
  EXPECT_GT(sent, 100);
  EXPECT_GT(kept, 100);
}

TEST(HindrancesTest, AnOrderIsTakenExactlyWhereNothingKeepsItFrom) {
  int taken = 0;
  int refused = 0;
  for_each_pair([&](const ClusterView& view, const std::string& vnfs, const std::string& head) {
    const records::VnfsRecord& record = view.vnfses.at(vnfs).record;
    const auto owner = view.owners.find(vnfs);
    const bool is_there = owner != view.owners.end() && owner->second.record.head() == head;
    const bool is_free = hindrances(view, record, head).empty() &&
                         hindrances_to_move(view, record, kViewNow).empty();
    const auto order = plan_vnfs_rehost(view, vnfs, head, kViewNow);
    EXPECT_EQ(order.has_value(), is_free && !is_there)
        << (order ? order->what : order.error().message);
    (order ? taken : refused) += 1;
  });
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 100);
}

TEST(HindrancesTest, WhatKeepsOnlyOwnersComesBesideTheRest) {
  for_each_pair([](const ClusterView& view, const std::string& vnfs, const std::string& head) {
    const auto own_ones = own(view, head, vnfs);
    std::vector<Hindrance> rest;
    for (const Hindrance& one : own_ones) {
      EXPECT_FALSE(one.why.empty() || one.next.empty()) << name_of(one.kind);
      if (!keeps_only_owners(one.kind)) rest.push_back(one);
    }
    EXPECT_EQ(kinds_of(rest), kinds_of(hindrances(view, view.vnfses.at(vnfs).record, head)));
  });
}

TEST(HindrancesTest, NothingKeepsAVnfsFromAHealthyHead) {
  const ClusterView view = healthy_view();
  for (const auto& [head, record] : view.heads) EXPECT_TRUE(own(view, head).empty()) << head;
  EXPECT_TRUE(hindrances_to_move(view, view.vnfses.at("v1").record, kViewNow).empty());
}

struct Case {
  std::function<void(ClusterView&)> spoil;
  Kind kind;
  std::string line;
};

TEST(HindrancesTest, EachIsNamedWithWhatToDo) {
  const auto head = [](ClusterView& v) -> records::HeadRecord& {
    return v.heads.at("c1n2").record;
  };
  const std::vector<Case> cases = {
      {[](ClusterView& v) {
         v.vnfses.at("v1").record.mutable_heads()->RemoveLast(),
             v.vnfses.at("v1").record.mutable_heads()->RemoveLast();
       },
       Kind::kNotItsHead,
       "it is not one of its heads, c1n1 (symnas vnfs set v1 --heads c1n1,c1n2)"},
      {[](ClusterView& v) { v.heads.erase("c1n2"); }, Kind::kNoHead,
       "it is no head of the cluster (symnas head invite c1n2 lets it join)"},
      {[](ClusterView& v) { v.heads.erase("c1n2"), v.removed["c1n2"]; }, Kind::kNoHead,
       "it was removed from the cluster (symnas head invite c1n2 lets it join)"},
      {[&](ClusterView& v) { head(v).clear_incarnation(); }, Kind::kNeverStarted,
       "it has never been started (systemctl start vnfsd there)"},
      {[](ClusterView& v) { v.fences["c1n2"].record.set_incarnation("boot of c1n2"); },
       Kind::kFenced, "it is fenced (its next boot serves again: symnas status)"},
      {[&](ClusterView& v) { head(v).set_draining(true); }, Kind::kDraining,
       "it is being drained (symnas head undrain c1n2)"},
      {[&](ClusterView& v) { head(v).add_ill_networks("nfs0"); }, Kind::kNetworks,
       "it reaches badly: nfs0 (symnas status there says why)"},
      {[&](ClusterView& v) { head(v).clear_luns(); }, Kind::kLuns,
       "it has not open: LUN0, LUN1 (symnas status there says why)"},
      {[&](ClusterView& v) { head(v).set_luns_known(false); }, Kind::kJustStarted,
       "it has just started, and has not said what it reaches (again in some seconds, or symnas "
       "status there)"}};
  for (const Case& one : cases) {
    ClusterView view = healthy_view();
    one.spoil(view);
    const auto found = own(view, "c1n2");
    ASSERT_EQ(kinds_of(found), std::vector<Kind>{one.kind}) << one.line;
    EXPECT_EQ(line_of(found.front()), one.line);
  }
}

TEST(HindrancesTest, AllOfThemAreNamed) {
  ClusterView view = healthy_view();
  records::HeadRecord& head = view.heads.at("c1n2").record;
  head.set_draining(true);
  head.add_ill_networks("nfs0");
  head.clear_luns();
  EXPECT_EQ(kinds_of(own(view, "c1n2")),
            (std::vector<Kind>{Kind::kDraining, Kind::kNetworks, Kind::kLuns}));
  // Its next boot may reach all of it.
  view.fences["c1n2"].record.set_incarnation("boot of c1n2");
  EXPECT_EQ(kinds_of(own(view, "c1n2")), std::vector<Kind>{Kind::kFenced});
}

TEST(HindrancesTest, WhoDidNotTakeItIsNotAskedAgainForAWhile) {
  ClusterView view = healthy_view();
  records::Refusal& refusal = *view.refusals["v1"].record.add_refusals();
  refusal.set_head("c1n2");
  refusal.set_incarnation("boot of c1n2");
  refusal.set_why("this head has no device eth1");
  refusal.set_at_ns(kViewNow);
  const auto found = own(view, "c1n2");
  ASSERT_EQ(kinds_of(found), std::vector<Kind>{Kind::kRefused});
  EXPECT_EQ(line_of(found.front()),
            "it did not take it: this head has no device eth1 (symnas vnfs rehost v1 c1n2 asks it "
            "again at once)");
  EXPECT_TRUE(own(view, "c1n2", "v2").empty());
  EXPECT_TRUE(own(view, "c1n3").empty());
  refusal.set_at_ns(kViewNow - kRefusalNs);
  EXPECT_TRUE(own(view, "c1n2").empty());
}

TEST(HindrancesTest, AVnfsThatIsStoppedOrOnItsWayTakesNoOrder) {
  ClusterView view = healthy_view();
  records::VnfsRecord& vnfs = view.vnfses.at("v1").record;
  records::MoveRecord& move = view.moves["v1"].record;
  move.set_to("c1n3");
  move.set_ordered_ns(kViewNow);
  auto found = hindrances_to_move(view, vnfs, kViewNow);
  ASSERT_EQ(kinds_of(found), std::vector<Kind>{Kind::kMoving});
  EXPECT_EQ(line_of(found.front()), "it is being moved to c1n3 (wait: symnas vnfs status)");
  EXPECT_TRUE(hindrances_to_move(view, vnfs, kViewNow + kOrderNs + 1).empty()) << "forgotten";
  vnfs.set_stopped(true);
  view.moves.clear();
  found = hindrances_to_move(view, vnfs, kViewNow);
  ASSERT_EQ(kinds_of(found), std::vector<Kind>{Kind::kStopped});
  EXPECT_EQ(line_of(found.front()), "it is stopped (symnas vnfs start v1)");
}

TEST(HindrancesTest, EachKindHasAWordOfItsOwn) {
  std::set<std::string> words;
  for (int kind = 0; kind <= static_cast<int>(Kind::kHeld); ++kind)
    EXPECT_TRUE(words.insert(name_of(static_cast<Kind>(kind))).second) << kind;
  EXPECT_FALSE(words.contains("?"));
}

}  // namespace
}  // namespace symnas::vnfsd

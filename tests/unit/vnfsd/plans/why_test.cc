// What `symnas vnfs why` says, against what the planner and the orders do.
#include "vnfsd/plans/why.h"

#include <algorithm>
#include <set>

#include "tests/unit/vnfsd/plans/cluster_views.h"

namespace symnas::vnfsd {
namespace {

using Verdict = Standing::Verdict;
using Standby = Standing::Standby;

class WhyTest : public ::testing::Test {
 protected:
  Standing why(const std::string& vnfs, const std::string& head) {
    return standing_of(view, vnfs, head, kViewNow);
  }
  records::MoveRecord& move(const std::string& vnfs, const std::string& to) {
    records::MoveRecord& order = view.moves[vnfs].record;
    order.set_from(view.owners.at(vnfs).record.head());
    order.set_to(to);
    order.set_ordered_ns(kViewNow);
    return order;
  }
  void own(const std::string& vnfs, const std::string& head) {
    view.owners.at(vnfs).record.set_head(head);
    view.owners.at(vnfs).record.set_incarnation("boot of " + head);
  }
  void fence(const std::string& head) {
    view.fences[head].record.set_incarnation("boot of " + head);
  }
  records::VnfsRecord& vnfs(const std::string& name) { return view.vnfses.at(name).record; }

  ClusterView view = healthy_view();
};

// "an order moves it there (symnas vnfs rehost v1 c1n2)"
std::vector<std::string> lines_of(const std::vector<Way>& ways) {
  std::vector<std::string> lines;
  for (const Way& way : ways)
    lines.push_back(way.what + (way.next.empty() ? "" : " (" + way.next + ")"));
  return lines;
}

std::vector<std::string> words_of(const std::vector<Hindrance>& found) {
  std::vector<std::string> words;
  for (const Hindrance& one : found) words.emplace_back(name_of(one.kind));
  return words;
}

TEST_F(WhyTest, ItRunsWhereItsOwnerIs) {
  const Standing there = why("v1", "c1n1");
  EXPECT_EQ(there.verdict, Verdict::kRuns);
  EXPECT_EQ(there.rank, 0);
  EXPECT_EQ(there.plan, "it stays with c1n1");
  EXPECT_TRUE(there.hindrances.empty());
  EXPECT_TRUE(there.ways.empty());
}

TEST_F(WhyTest, ABackupTakesItByOrderOrAfterALoss) {
  const Standing first = why("v1", "c1n2");
  EXPECT_EQ(first.verdict, Verdict::kMay);
  EXPECT_EQ(first.owner, "c1n1");
  EXPECT_EQ(first.rank, 1);
  EXPECT_EQ(first.standby, Standby::kNone);
  EXPECT_EQ(lines_of(first.ways),
            (std::vector<std::string>{"an order moves it there (symnas vnfs rehost v1 c1n2)",
                                      "if c1n1 is lost, it goes there"}));
  const Standing second = why("v1", "c1n3");
  EXPECT_EQ(second.rank, 2);
  EXPECT_EQ(lines_of(second.ways).back(), "if c1n1 is lost, it goes to c1n2");
}

TEST_F(WhyTest, EachReasonAgainstIsNamed) {
  view.heads.at("c1n2").record.set_draining(true);
  view.heads.at("c1n2").record.clear_luns();
  const Standing standing = why("v1", "c1n2");
  EXPECT_EQ(standing.verdict, Verdict::kMayNot);
  EXPECT_EQ(words_of(standing.hindrances), (std::vector<std::string>{"draining", "luns"}));
  EXPECT_TRUE(standing.ways.empty());
}

TEST_F(WhyTest, ItMayRunWhereSomethingKeepsIt) {
  view.heads.at("c1n1").record.set_draining(true);
  fence("c1n2");
  fence("c1n3");
  const Standing there = why("v1", "c1n1");
  EXPECT_EQ(there.verdict, Verdict::kRuns) << "no other can take it";
  EXPECT_EQ(there.plan, "it stays with c1n1");
  EXPECT_EQ(words_of(there.hindrances), std::vector<std::string>{"draining"});
}

TEST_F(WhyTest, AnOrderIsFollowed) {
  move("v1", "c1n2");
  Standing there = why("v1", "c1n2");
  EXPECT_EQ(there.verdict, Verdict::kComing);
  EXPECT_EQ(there.standby, Standby::kStarting);
  EXPECT_EQ(there.plan, "it goes to c1n2 when that has answered the order");
  EXPECT_TRUE(there.hindrances.empty());
  const Standing elsewhere = why("v1", "c1n3");
  EXPECT_EQ(elsewhere.verdict, Verdict::kMayNot);
  EXPECT_EQ(words_of(elsewhere.hindrances), std::vector<std::string>{"moving"});
  move("v1", "c1n2").set_refusal("this head has no device eth1");
  there = why("v1", "c1n2");
  EXPECT_EQ(there.standby, Standby::kNone);
  EXPECT_EQ(there.plan,
            "it goes to c1n2 when that has answered the order; so far that says: this head has no "
            "device eth1");
  move("v1", "c1n2").set_ready_incarnation("boot of c1n2");
  there = why("v1", "c1n2");
  EXPECT_EQ(there.standby, Standby::kReady);
  EXPECT_EQ(there.plan, "it goes to c1n2, as ordered");
  EXPECT_EQ(why("v1", "c1n1").verdict, Verdict::kRuns) << "so far";
}

TEST_F(WhyTest, ADrainedOwnerSendsItAway) {
  view.heads.at("c1n1").record.set_draining(true);
  const Standing there = why("v1", "c1n2");
  EXPECT_EQ(there.verdict, Verdict::kNext);
  EXPECT_EQ(there.plan, "it goes to c1n2: c1n1 is being drained");
}

TEST_F(WhyTest, WhatALostHeadHasIsHeld) {
  fence("c1n1");
  const Standing backup = why("v1", "c1n2");
  EXPECT_EQ(backup.verdict, Verdict::kMayNot);
  EXPECT_EQ(words_of(backup.hindrances), std::vector<std::string>{"held"});
  EXPECT_EQ(backup.standby, Standby::kStarting) << "it is the next one";
  EXPECT_EQ(why("v1", "c1n3").standby, Standby::kNone);
  const Standing lost = why("v1", "c1n1");
  EXPECT_EQ(lost.verdict, Verdict::kMayNot);
  EXPECT_EQ(words_of(lost.hindrances), (std::vector<std::string>{"fenced", "held"}));
}

TEST_F(WhyTest, WhatNobodyOwnsGoesWhereThePlannerSays) {
  view.owners.erase("v1");
  EXPECT_EQ(why("v1", "c1n1").verdict, Verdict::kNext);
  EXPECT_EQ(why("v1", "c1n1").plan, "c1n1 takes it, the first that can");
  EXPECT_EQ(why("v1", "c1n2").verdict, Verdict::kMay);
  for (auto& [name, head] : view.heads) head.record.set_draining(true);
  EXPECT_EQ(why("v1", "c1n1").verdict, Verdict::kNext) << "nobody else can";
  EXPECT_EQ(words_of(why("v1", "c1n1").hindrances), std::vector<std::string>{"draining"});
  vnfs("v1").set_stopped(true);
  EXPECT_EQ(why("v1", "c1n1").verdict, Verdict::kMayNot);
  EXPECT_EQ(why("v1", "c1n1").plan, "nobody serves it: it is stopped");
}

TEST_F(WhyTest, ItSaysWhyItDoesNotFailBack) {
  own("v1", "c1n2");
  own("v2", "c1n1");
  const auto by_itself = [&] {
    for (const Way& way : why("v1", "c1n1").ways)
      if (way.kind == Way::Kind::kNotByItself) return lines_of({way}).front();
    return std::string();
  };
  EXPECT_EQ(by_itself(),
            "it does not fail back by itself: c1n1 has its share of VNFSs (symnas vnfs distribute "
            "--dry-run)");
  vnfs("v1").set_pinned("c1n2");
  EXPECT_EQ(by_itself(),
            "it does not fail back by itself: an administrator moved it to c1n2 (symnas vnfs "
            "failback v1 ends that)");
  vnfs("v1").set_failback(records::FAILBACK_MANUAL);
  EXPECT_EQ(by_itself(), "it does not fail back by itself (symnas vnfs set v1 --failback auto)");
  const auto ways = why("v1", "c1n1").ways;
  EXPECT_EQ(lines_of(ways).at(1), "a failback moves it there (symnas vnfs failback v1)");
  EXPECT_EQ(why("v1", "c1n3").ways.size(), 2u) << "that is a later one";
}

TEST_F(WhyTest, ItFailsBackByItselfWhereThereIsRoom) {
  own("v1", "c1n2");
  const Standing there = why("v1", "c1n1");
  EXPECT_EQ(there.verdict, Verdict::kNext);
  EXPECT_EQ(there.plan, "it fails back to c1n1 as soon as that has settled");
}

TEST_F(WhyTest, ItIsAskedAgainByOrderOnly) {
  records::Refusal& refusal = *view.refusals["v1"].record.add_refusals();
  refusal.set_head("c1n2");
  refusal.set_incarnation("boot of c1n2");
  refusal.set_at_ns(kViewNow);
  const Standing there = why("v1", "c1n2");
  EXPECT_EQ(there.verdict, Verdict::kMay);
  EXPECT_EQ(words_of(there.hindrances), std::vector<std::string>{"refused"});
}

// By another way than its own: what it says is what the planner and the orders do.
TEST(WhyProperty, SaysWhatHappens) {
  std::set<Verdict> seen;
  for_each_pair([&](const ClusterView& view, const std::string& vnfs, const std::string& head) {
    Observed observed;
    observed.now_ns = kViewNow;
    for (const auto& [name, record] : view.heads) observed.settled.insert(name);
    const auto owner = view.owners.find(vnfs);
    const std::string owned_by = owner == view.owners.end() ? "" : owner->second.record.head();
    const ha::Assignment assignment =
        ha::plan(owned_by.empty() ? facts_of(view) : facts_of(view, observed)).at(vnfs);
    const bool is_held = assignment.reason == ha::Reason::kHeld;
    const auto order = plan_vnfs_rehost(view, vnfs, head, kViewNow);
    const Standing standing = standing_of(view, vnfs, head, kViewNow);
    seen.insert(standing.verdict);
    EXPECT_EQ(standing.assignment, assignment);
    EXPECT_FALSE(standing.plan.empty());
    switch (standing.verdict) {
      case Verdict::kRuns: EXPECT_TRUE(owned_by == head && !is_held); break;
      case Verdict::kComing: EXPECT_EQ(view.moves.at(vnfs).record.to(), head); break;
      case Verdict::kNext: EXPECT_TRUE(assignment.head == head && owned_by != head); break;
      case Verdict::kMay:
        EXPECT_TRUE(order) << order.error().message;
        EXPECT_NE(assignment.head, head);
        break;
      case Verdict::kMayNot:
        EXPECT_TRUE(!order || is_held) << order->what;
        EXPECT_TRUE(assignment.head != head || is_held) << ha::name_of(assignment.reason);
        EXPECT_FALSE(standing.hindrances.empty());
        break;
    }
  });
  EXPECT_EQ(seen.size(), 5u);
}

}  // namespace
}  // namespace symnas::vnfsd

// Clusters in which VNFSs may move: a healthy one, and random ones with everything that keeps a
// VNFS from a head.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/plans/limits.h"

namespace symnas::vnfsd {

inline constexpr std::int64_t kViewNow = 1'000'000'000'000;  // wall clock

// Three heads that reach everything; v1, v2, v3 may be served by all, each is on its primary (c1n1,
// c1n2, c1n3) and fails back by itself.
inline ClusterView healthy_view() {
  ViewBuilder builder;
  builder.basics().three_heads();
  builder.apply([](const ClusterView& v) {
    return plan_vnfs_create_set(v, {"v", {"10.0.0.101/24@nfs0"}, {"u04"}, {}, "auto"});
  });
  builder.owner("v1", "c1n1").owner("v2", "c1n2").owner("v3", "c1n3");
  ClusterView view = builder.view();
  for (auto& [name, head] : view.heads) {
    for (const auto* lun : luns_of_volume(view, "v1")) head.record.add_luns(lun->uuid());
    head.record.set_luns_known(true);
  }
  for (auto& [vnfs, owner] : view.owners)
    owner.record.set_incarnation("boot of " + owner.record.head());
  return view;
}

class RandomView {
 public:
  RandomView(ClusterView healthy, unsigned seed) : view(std::move(healthy)), random_(seed) {
    for (auto& [name, head] : view.heads) {
      names_.push_back(name);
      change(head.record);
      if (one_in(5)) add_fence(name);
    }
    for (auto& [name, vnfs] : view.vnfses) {
      change(vnfs.record);
      if (one_in(3)) {
        view.owners.erase(name);
      } else {
        own(view.owners.at(name).record);
      }
      if (one_in(4)) add_move(name, vnfs.record);
      if (one_in(4)) add_refusal(name);
    }
  }
  ClusterView view;

 private:
  std::size_t pick(std::size_t bound) { return random_() % bound; }
  bool one_in(std::size_t bound) { return pick(bound) == 0; }
  const std::string& any_head() { return names_[pick(names_.size())]; }

  void change(records::HeadRecord& head) {
    if (one_in(8)) head.clear_incarnation();
    head.set_draining(one_in(5));
    head.set_luns_known(!one_in(6));
    if (one_in(6)) head.mutable_luns()->RemoveLast();
    if (one_in(6)) head.add_ill_networks(one_in(3) ? "nfs9" : "nfs0");
  }
  void add_fence(const std::string& head) {
    records::FenceRecord& fence = view.fences[head].record;
    fence.set_head(head);
    fence.set_incarnation(one_in(4) ? "an earlier boot" : "boot of " + head);
    fence.set_state(static_cast<records::FenceState>(pick(4)));
  }
  void change(records::VnfsRecord& vnfs) {
    std::shuffle(vnfs.mutable_heads()->begin(), vnfs.mutable_heads()->end(), random_);
    if (one_in(3)) vnfs.mutable_heads()->RemoveLast();
    if (one_in(8)) vnfs.add_heads("ghost");
    vnfs.set_stopped(one_in(8));
    if (one_in(2)) vnfs.set_failback(records::FAILBACK_MANUAL);
    if (one_in(4)) vnfs.set_pinned(any_head());
  }
  void own(records::OwnerRecord& owner) {
    owner.set_head(any_head());
    owner.set_incarnation("boot of " + owner.head());
  }
  void add_move(const std::string& vnfs, const records::VnfsRecord& record) {
    records::MoveRecord& move = view.moves[vnfs].record;
    move.set_to(
        record.heads(static_cast<int>(pick(static_cast<std::size_t>(record.heads_size())))));
    move.set_ordered_ns(one_in(3) ? kViewNow - 2 * kOrderNs : kViewNow);
    if (one_in(2)) move.set_ready_incarnation("boot of " + move.to());
    if (one_in(3)) move.set_refusal("this head has no device eth1");
  }
  void add_refusal(const std::string& vnfs) {
    records::Refusal& refusal = *view.refusals[vnfs].record.add_refusals();
    refusal.set_head(any_head());
    refusal.set_incarnation((one_in(4) ? "an earlier boot of " : "boot of ") + refusal.head());
    refusal.set_why("this head has no device eth1");
    refusal.set_at_ns(one_in(4) ? kViewNow - 2 * kRefusalNs : kViewNow);
  }

  std::mt19937 random_;
  std::vector<std::string> names_;
};

inline constexpr unsigned kRandomViews = 200;

// `check`: of a view, a VNFS and a head of the cluster.
template <class Check>
void for_each_pair(const Check& check) {
  const ClusterView healthy = healthy_view();
  for (unsigned seed = 0; seed < kRandomViews; ++seed) {
    const ClusterView view = RandomView(healthy, seed).view;
    for (const auto& [vnfs, record] : view.vnfses) {
      for (const auto& [head, of_head] : view.heads) {
        SCOPED_TRACE(vnfs + " and " + head + ", seed " + std::to_string(seed));
        check(view, vnfs, head);
        if (::testing::Test::HasFailure()) return;  // one is enough
      }
    }
  }
}

}  // namespace symnas::vnfsd

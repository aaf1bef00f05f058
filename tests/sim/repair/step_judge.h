// StepJudge: looks at every step of a repair as it is carried out: at the records before and after
// its transaction. What must hold, whatever mounts did meanwhile:
//  - what it was reasoned from still was so: its finding was there, and is gone now;
//  - no block lost its mark or got a second owner by it, no record became unreadable, no change of
//    a watched key went without the stamp;
//  - a map or a group that a living mount remembers was left alone;
//  - its transaction has its record in it.
//
// Thread class: for simulated threads; no thread of a repair but in store_of() and expect().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fsal_cluster/check/context.h"
#include "fsal_cluster/repair/plan.h"
#include "tests/sim/mount_world.h"

namespace symnas::sim {

// What a check of this dump knows beside the keys.
fs::check::Context whole_context(MountWorld& world, const std::vector<kv::KeyValue>& dump);

class StepJudge {
 public:
  // Starts a thread of `people`.
  StepJudge(MountWorld& world, Process& people);

  // To be called before a step of the plan is carried out.
  void expect(const fs::repair::Plan& plan);
  // A store for a repair, which fails the run when a change comes without its record.
  std::unique_ptr<kv::Store> store_of(kv::Store& store) const;
  // Waits until all steps so far were judged.
  void wait_judged();
  std::uint64_t judged() const { return judged_; }

 private:
  using Keys = std::map<std::string, kv::KeyValue>;

  void judge(const std::string& log_key, Revision revision);
  void judge_findings(const fs::repair::Step& step, const Keys& before, const Keys& after) const;
  void judge_holders(const fs::repair::Step& step, const Keys& before) const;
  Keys at(Revision revision) const;
  std::vector<fs::check::Finding> findings(const Keys& keys) const;

  MountWorld& world_;
  std::map<std::string, fs::repair::Step> expected_;  // by the key of the record
  std::vector<std::pair<std::string, Revision>> seen_;
  std::uint64_t judged_ = 0;
  std::unique_ptr<Observer> observer_;
};

}  // namespace symnas::sim

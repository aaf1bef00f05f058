// SimHead: a head in the simulation: its vnfsd, which runs the real Lifecycle, claims, releases and
// planner, and its instances. vnfsd may die at every action and is started anew; the head may be
// paused, cut off, and lose power; its peer fences it.
//
// Thread class: for simulated threads. In vnfsd two threads: one follows the records, one is the
// supervisor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fsal_cluster/state/life_signs.h"
#include "tests/sim/service/service.h"
#include "vnfsd/instance/lifecycle.h"
#include "vnfsd/instance/pulse_watch.h"
#include "vnfsd/plans/fences.h"
#include "vnfsd/plans/ownership.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::sim {

class SimHead {
 public:
  SimHead(Service& service, std::string name) : service_(service), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  const std::string& incarnation() const { return incarnation_; }
  // A new boot: nothing runs of what ran before.
  void power_on();
  void power_off();
  // It comes back some seconds later.
  void lose_power();
  void reboot_later(std::int64_t span_ns);
  // Starts vnfsd again whenever it has ended. Never returns.
  [[noreturn]] void keep_daemon();
  bool is_on() const { return daemon_ != nullptr && daemon_->alive(); }

  // --- faults
  void kill_daemon();
  void kill_instance();
  void pause_all(std::int64_t span_ns);
  // From etcd, for as long.
  void cut_off(std::int64_t span_ns);
  void restart_instance() { restart_ = true; }
  void end_instance() { told_ = true; }
  // Whether the peer hears nothing of it.
  bool is_silent() const;

  // --- what its peer's fence does to it
  void refuse_luns();
  void drain();

 private:
  using Lifecycle = vnfsd::instance::Lifecycle;
  using Event = vnfsd::instance::Event;
  using Action = vnfsd::instance::Action;
  using Phase = vnfsd::instance::Phase;
  using Wanted = vnfsd::Wanted;

  void start_daemon();
  // --- follows the records (head_follow.cc)
  void follow();
  void answer_order(const vnfsd::ClusterView& view);
  // --- fences (head_fence.cc)
  void fence_peer();
  std::optional<fs::LifeSigns> signs_of(const vnfsd::ClusterView& view, const std::string& head);
  void wait_for_last_answers(const std::optional<fs::LifeSigns>& before);
  bool commit(const vnfsd::FencePlan& plan);
  std::string cut_off_peer();
  bool prove(const vnfsd::Victim& victim, const std::string& cuts);
  void end_fence(const vnfsd::Victim& victim, const std::optional<fs::LifeSigns>& before);
  // --- supervises
  void supervise();
  Phase adopt() const;
  void perform(std::vector<Action> actions);
  std::optional<Event> carry_out(const std::vector<Action>& actions);
  std::optional<Event> carry_out(Action action);
  Event run_task(Action task);
  void look();
  void look_at_pulse();
  void happen(Event event);
  // Waits for `done`, with an eye on the pulse.
  void await(const bool& done);
  void crash_point(const char* where);
  std::int64_t now_ms() const { return daemon_->mono_ns() / 1'000'000; }

  Event fence();
  Event claim(std::optional<Epoch> prepared);
  Event plan_standby();
  Event launch();
  Event await_standing();
  Event await_listening();
  Event take_vips();
  Event retire();
  Event release();
  void call_instance();
  void open_mount(Instance& instance);
  vnfsd::HeadBoot boot() const { return {name_, incarnation_, ""}; }
  Result<vnfsd::ClusterView> view();

  Service& service_;
  const std::string name_;
  std::string incarnation_;
  unsigned boots_ = 0;
  bool powered_ = false;
  bool cut_ = false;  // its LUNs refuse this boot
  std::int64_t silent_until_ns_ = 0;

  // Of the boot: what a new vnfsd finds.
  Instance* instance_ = nullptr;  // the last that was launched
  bool standby_ = false;
  bool retiring_ = false;

  // Of vnfsd.
  Process* daemon_ = nullptr;
  std::shared_ptr<SimFaults> faults_;
  SimStore* store_ = nullptr;
  std::unique_ptr<Lifecycle> life_;
  vnfsd::instance::PulseWatch pulse_;
  Wanted wanted_ = Wanted::kStopped;
  bool followed_ = false;  // the records were read once
  bool fencing_ = false;   // it fences its peer
  bool restart_ = false;
  bool told_ = false;
  std::optional<Epoch> planned_;         // of the standby
  std::optional<vnfsd::Claim> claimed_;  // until it is used
  Revision claimed_at_;
};

}  // namespace symnas::sim

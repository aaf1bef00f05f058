// Supervisor: keeps one VNFS as the administrator wants it on this head: a thread that brings
// events to the VNFS's Lifecycle and carries out its actions. Thread class: thread-safe.
//
// Invariants: those of Lifecycle; destroying a supervisor leaves the instance running, unless it is
// a standby.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/result.h"
#include "common/env/clock.h"
#include "vnfsd/instance/exports_teller.h"
#include "vnfsd/instance/ganesha_conf.h"
#include "vnfsd/instance/host.h"
#include "vnfsd/instance/lifecycle.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/live_instance.h"
#include "vnfsd/instance/log_bound.h"
#include "vnfsd/instance/partings.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/instance/pulse_sight.h"
#include "vnfsd/instance/supervisor_requests.h"
#include "vnfsd/instance/vip_keeper.h"

namespace symnas::vnfsd::instance {

class Supervisor {
 public:
  Supervisor(std::string vnfs, InstancePaths paths, std::string incarnation, Host& host,
             const FsalBlocks& fsal, const env::Clock& clock, Wanted wanted);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // From any thread:
  void set_wanted(Wanted wanted) { requests_.set_wanted(wanted); }
  // Kills the instance of that epoch if it still runs; what follows is as after every end: fence,
  // restart.
  void end_instance(Epoch epoch, const std::string& why) { requests_.end_instance(epoch, why); }
  // Closes the instance of that epoch as for a move and starts another one here.
  void restart_instance(Epoch epoch) { requests_.restart_instance(epoch); }
  // LUNs, volumes or exports have changed: a running instance's instance.json is written anew, and
  // the instance told of its exports.
  void refresh() { requests_.refresh(); }
  // False while the file of an instance that may open LUNs is older than the last refresh().
  bool refreshed() const { return requests_.refreshed(); }
  InstanceSnapshot snapshot() const { return requests_.snapshot(); }

 private:
  void run();
  Phase adopt();
  void look();
  void sleep();
  void end();

  // --- while it serves
  void attend_service();
  bool may_restart();
  void rewrite_instance_file();

  // --- the machine
  void happen(Event event) { perform(life_.step(event, now_ms())); }
  void perform(std::vector<Action> actions);
  // Carries out the actions of one step. What came of the last one; nullopt: nothing is to be said.
  std::optional<Event> carry_out(const std::vector<Action>& actions);
  std::optional<Event> carry_out(Action action);
  Event run_task(Action task);
  void look_at_pulse();
  // Waits for `done`, which waits for the store or the instance, and attends to the pulse
  // meanwhile.
  template <class T>
  T await(std::future<T> done) {
    while (done.wait_for(std::chrono::milliseconds(kHiddenLookMs)) != std::future_status::ready)
      look_at_pulse();
    return done.get();
  }

  // --- actions (supervisor_actions.cc)
  std::optional<Event> call();
  std::optional<Event> show_vips();
  void hide_vips();
  void silence();
  void kill();
  void bury();
  void depart();
  void drop_standby();
  // --- tasks (supervisor_tasks.cc)
  Event fence();
  Event claim(std::optional<Epoch> prepared);
  Event plan_standby();
  Event launch();
  Event await_standing();
  Event await_listening();
  Event take_vips();
  std::optional<Event> no_proof();
  Event note_serving();
  Event retire();
  Event release();

  Result<InstancePlan> read_plan();
  Event failed(const Error& error);
  Event unfit(const Error& error);
  void show_serving();
  void publish();
  void say(const std::string& problem);
  std::int64_t now_ms() const { return clock_.mono_ns() / 1'000'000; }

  const std::string vnfs_;
  const InstancePaths paths_;
  const std::string incarnation_;
  Host& host_;
  const FsalBlocks& fsal_;
  const env::Clock& clock_;
  SupervisorRequests requests_;

  // Used by the thread only.
  LiveInstance live_;
  VipKeeper vips_;
  PulseSight pulse_;
  Partings partings_;
  LogBound log_;
  ExportsTeller exports_;
  Lifecycle life_;
  InstancePlan plan_;           // what is being started, or was prepared
  bool plan_is_fresh_ = false;  // it was claimed, and its VIPs have not been taken yet
  std::string problem_;         // what keeps it from being further
  // What is known of the present process, for what is told of it.
  struct Course {
    std::string unfit;  // why it cannot go on; "": it can
    bool killed = false;
    bool silenced = false;  // nothing that it sends reaches its clients any more
    std::string end;        // how it has ended
  };
  Course course_;
  std::int64_t restart_ms_ = 0;  // when to look again whether it can be restarted

  std::thread thread_;  // last: starts when all else is there
};

}  // namespace symnas::vnfsd::instance

// Supervisor: keeps one VNFS as the administrator wants it on this head: adopts, starts, watches,
// fences and restarts its instance. Thread class: thread-safe; works on a thread of its own.
//
// Invariants: no start before the local fence of everything older (INV-1, INV-8); destroying a
// supervisor leaves the instance running, unless it is a standby.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "common/env/clock.h"
#include "vnfsd/instance/announcements.h"
#include "vnfsd/instance/ganesha_conf.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/instance/process.h"
#include "vnfsd/instance/pulse_watch.h"
#include "vnfsd/instance/restart_policy.h"
#include "vnfsd/instance/state_file.h"
#include "vnfsd/instance/supervisor_requests.h"
#include "vnfsd/instance/vip_question.h"

namespace symnas::vnfsd::instance {

// How the last instance of a VNFS on this head went.
struct Farewell {
  records::Departure departure;          // its epoch is 0: none has run
  std::vector<std::string> connections;  // of its clients (Connection)
  std::vector<std::string> unheard;      // of before it; may not have heard that they were left
};

// How the VNFS's present instance came to serve.
struct Arrival {
  Epoch epoch;
  google::protobuf::RepeatedPtrField<records::Step> steps;
  records::Departure last;  // of the instance before, if it ended by itself here; epoch 0: none
};

// Host: what a supervisor needs of its head. Thread-safe; the calls block.
class Host {
 public:
  virtual ~Host() = default;
  // The plan of an instance that waits for its claim, with an epoch that nobody else gets.
  // Errors: as claim().
  virtual Result<InstancePlan> prepare(const std::string& vnfs) = 0;
  // The instance of prepare() waits for its claim.
  virtual void prepared(const std::string& vnfs) = 0;
  // Takes ownership of the VNFS and returns the plan of the instance to start: with the epoch of
  // prepare() if every instance of the VNFS had an earlier one, else with a new one. Errors: kBusy
  // (another head owns it), kNotFound, kUnavailable, kUnknownOutcome (try again).
  virtual Result<InstancePlan> claim(const std::string& vnfs, std::optional<Epoch> prepared) = 0;
  // The plan as records and LUNs are now, for the instance that runs as `state` says.
  virtual Result<InstancePlan> plan_of(const std::string& vnfs, const InstanceState& state) = 0;
  // Local fence: every process of the VNFS on this head is dead and reaped. Obtains its OFD byte on
  // every LUN of its volumes, then writes the end records of its mounts. Idempotent. Errors: kBusy
  // (I/O still in flight: try again), kUnavailable, kIo.
  virtual Status fence(const std::string& vnfs) = 0;
  // Gives ownership up. REQUIRES: fence() succeeded. Idempotent. Errors: kUnavailable,
  // kUnknownOutcome.
  virtual Status release(const std::string& vnfs, const Farewell& farewell) = 0;
  // Tells that the VNFS's instance has ended without being told to. Waits for nothing.
  virtual void ended(const std::string& vnfs, Epoch epoch, const std::string& how) = 0;
  // Tells that others answer for VIPs of the VNFS (text_of()), so that these are not taken. Waits
  // for nothing.
  virtual void vips_taken(const std::string& vnfs, const std::string& by_whom) = 0;
  // Head and epoch of each instance of the VNFS that is remembered. Errors: as release().
  virtual Result<std::vector<std::pair<std::string, Epoch>>> earlier(const std::string& vnfs) = 0;
  // To be called before the VNFS's instance is told to serve the exports of the plan: from then on
  // nobody knows what it serves. nullopt: it serves them already, and need not be told. Errors:
  // kConflict (somebody else owns it), those of the store.
  virtual Result<std::optional<Revision>> tells_exports(const InstancePlan& plan) = 0;
  // The instance was told. `taken`: success when it serves the exports, kInvalidArgument when it
  // has refused them; after any other error it is not known what it serves, and stays so.
  // `telling`: what tells_exports() returned. Errors: as tells_exports(), and `taken`.
  virtual Status exports_told(const InstancePlan& plan, Revision telling, const Status& taken) = 0;
  // Tells that the VNFS's instance serves: a move that led to this head is done. Errors: as
  // release().
  virtual Status served(const std::string& vnfs, const Arrival& arrival) = 0;
};

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
  void adopt();
  void finish_start();
  // Brings up the VIPs that nobody else has (supervisor_vips.cc).
  enum class VipsUp { kYes, kTaken };
  Result<VipsUp> take_vips(const InstancePlan& plan);
  Result<InstancePlan> without_own_vips(InstancePlan plan) const;
  std::vector<TakenVip> who_else(const InstancePlan& plan);
  void look_for_holders(const InstancePlan& plan);
  void hold(std::vector<TakenVip> taken);
  std::vector<IpAddress> held_vips() const;
  void try_held_vips();
  void announce_again();
  void show_serving();
  void wake_again(std::vector<Connection> connections);
  std::vector<Connection> take_unheard();
  void give_up(const Error& error);
  void watch_running();
  void bound_log_now_and_then();
  void kill_if_told();
  // The instance's pulse (supervisor_pulse.cc): it is read without the store, and without an answer
  // of the instance.
  void find_pulse();
  PulseWatch::Action look_at_pulse();
  void attend_pulse();
  // Waits for `done`, which waits for the store or the instance, and attends to the pulse
  // meanwhile.
  template <class T>
  void attend_pulse_until(const std::future<T>& done) {
    while (done.wait_for(std::chrono::milliseconds(kHiddenLookMs)) != std::future_status::ready)
      attend_pulse();
  }
  Result<InstancePlan> read_plan();
  void end_process(const std::string& why);
  void await_end();
  bool may_show_vips();
  void hide_vips();
  void show_vips();
  void retire_instance();
  void silence_instance();
  void take_process(Process process);
  void lose_process();
  bool kill_and_reap();
  void after_end(const std::string& how);
  void fence_until_done();
  std::int64_t pause_after(const Error& error);
  void start();
  Status start_once();
  Status launch_instance(const InstancePlan& plan);
  void prepare();
  Status prepare_once();
  void attend_standby();
  void call_standby();
  void discard_standby();
  void note(std::string_view step);
  Status wait_until_listening();
  bool may_restart();
  void follow_up();
  void stop();
  void rewrite_instance_file();
  bool remember_luns(const InstancePlan& plan);
  void tell_exports(InstancePlan plan);
  Status tell_once(const InstancePlan& plan);
  bool is_telling() const;

  void show(const std::string& state, const std::string& why);
  std::int64_t now_ms() const { return clock_.mono_ns() / 1'000'000; }

  const std::string vnfs_;
  const InstancePaths paths_;
  const std::string incarnation_;
  Host& host_;
  const FsalBlocks& fsal_;
  const env::Clock& clock_;

  // The VNFS's VIPs, and who else has some of them.
  struct Vips {
    bool up = false;                        // some at least, perhaps
    InstancePlan plan;                      // what they were brought up by
    std::unique_ptr<VipQuestion> question;  // about the VIPs of the instance that is being started
    std::vector<TakenVip> held;             // others have them
    std::int64_t try_ms = 0;                // when to look again
    Announcements announcements;            // of those that are up
  };
  // Clients that may not have heard that they were left.
  struct Unheard {
    std::vector<Connection> left;     // connected when the VIPs went: to be woken
    std::vector<Connection> to_wake;  // again
    std::int64_t wake_at_ms = 0;
  };
  // Of process_: what the process says by itself.
  struct PulseSight {
    std::optional<fs::PulseReader> reader;  // none: the process is judged by nothing
    PulseWatch watch;
    std::string error;  // why there is none
  };
  struct Progress {
    bool serving = false;
    bool adopted = false;   // the instance may have served before this vnfsd started
    bool fenced = false;    // nothing older than the next start can reach a LUN
    bool released = false;  // after a stop
    bool silenced = false;  // nothing that the instance sends reaches its clients any more
    std::int64_t restart_look_ms = 0;  // when to look again whether it can be restarted
  };

  struct LogBound {
    std::int64_t look_ms = 0;   // when to look at the log again
    std::future<void> looking;  // it may copy for a while
  };

  // Used by the thread only.
  std::optional<Process> process_;
  UniqueFd netns_;            // of process_; invalid: it has none any more
  std::future<void> burial_;  // of the links of the instance before
  InstanceState state_;
  PulseSight pulse_;
  Vips vips_;
  Unheard unheard_;
  Progress progress_;
  LogBound log_;
  InstancePlan prepared_;                // what the last standby was started with
  std::optional<InstancePlan> claimed_;  // what claim() returned, until it was used
  Farewell farewell_;                    // of the instance that was stopped last
  Arrival arrival_;                      // of the instance that is being started
  RestartPolicy policy_;
  std::int64_t pause_ms_ = 0;

  SupervisorRequests requests_;
  std::future<void> telling_;  // of exports; used by the thread only, which it wakes
  std::thread thread_;         // last: starts when all else is there
};

}  // namespace symnas::vnfsd::instance

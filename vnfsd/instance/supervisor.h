// Supervisor: keeps one VNFS as the administrator wants it on this head: adopts, starts, watches,
// fences and restarts its instance. Thread class: thread-safe; works on a thread of its own.
//
// Invariants: no start before the local fence of everything older (INV-1, INV-8); destroying a
// supervisor leaves the instance running, unless it is a standby.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "common/env/clock.h"
#include "vnfsd/instance/ganesha_conf.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/instance/process.h"
#include "vnfsd/instance/pulse_watch.h"
#include "vnfsd/instance/restart_policy.h"
#include "vnfsd/instance/state_file.h"
#include "vnfsd/instance/vip_question.h"

namespace symnas::vnfsd::instance {

// How the last instance of a VNFS on this head went.
struct Farewell {
  records::Departure departure;          // its epoch is 0: none has run
  std::vector<std::string> connections;  // of its clients (Connection)
  std::vector<std::string> unheard;  // of before it; they may not have heard that they were left
};

// How its present instance came to serve.
struct Arrival {
  Epoch epoch;
  google::protobuf::RepeatedPtrField<records::Step> steps;
  records::Departure last;  // of the one before it that ended by itself here; epoch 0: none
};

// What a supervisor needs of its head. Thread-safe; the calls block.
class Host {
 public:
  virtual ~Host() = default;
  // The plan of an instance that waits for its claim, with an epoch that nobody else gets.
  // Errors: as claim().
  virtual Result<InstancePlan> prepare(const std::string& vnfs) = 0;
  // The instance of prepare() waits.
  virtual void prepared(const std::string& vnfs) = 0;
  // Takes ownership of the VNFS and answers the plan of the instance to start: with the epoch of
  // prepare() if every instance of the VNFS had an earlier one, else with a new one.
  // Errors: kBusy (another head owns it), kNotFound, kUnavailable, kUnknownOutcome (try again).
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
  // Its instance has ended without being told to. Waits for nothing.
  virtual void ended(const std::string& vnfs, Epoch epoch, const std::string& how) = 0;
  // Others answer for VIPs of it (text_of()), so that these are not taken. The same.
  virtual void vips_taken(const std::string& vnfs, const std::string& by_whom) = 0;
  // Head and epoch of each of its instances that is remembered. Errors: as release().
  virtual Result<std::vector<std::pair<std::string, Epoch>>> earlier(const std::string& vnfs) = 0;
  // Before its instance is told to serve the exports of the plan: from here on nobody knows what it
  // serves. Nothing: it does so already, and need not be told. Errors: kConflict (somebody else
  // owns it), those of the store.
  virtual Result<std::optional<Revision>> tells_exports(const InstancePlan& plan) = 0;
  // It was told, and serves them or has refused them (kInvalidArgument); after any other error it
  // is not known, and stays so. `telling`: the answer of tells_exports(). Errors: the same, and
  // `taken`.
  virtual Status exports_told(const InstancePlan& plan, Revision telling, const Status& taken) = 0;
  // Its instance serves: a move that led here is done. Errors: as release().
  virtual Status served(const std::string& vnfs, const Arrival& arrival) = 0;
};

// kPrepared: as far as it goes without owning the VNFS.
enum class Wanted { kStarted, kStopped, kPrepared };

// What `symnas status` shows.
struct InstanceSnapshot {
  std::string state;  // prepared, starting, serving, fencing, waiting, stopping, stopped
  int pid = 0;        // 0 = none
  std::uint64_t epoch = 0;
  std::int64_t since_ns = 0;   // wall clock, of the state
  std::uint64_t restarts = 0;  // since vnfsd started
  std::string last_exit;
  std::string error;  // why it is not further, or what it does not serve; "" = nothing is wrong
  std::string vips_taken;  // which VIPs it has not, because who answers for them; "" = none
  bool silent = false;     // its VIPs are down: who is connected cannot be told from its sockets
  std::vector<std::string> unheard;  // as in Farewell
  // By its pulse, monotonic clock; 0: not yet.
  std::int64_t first_request_ns = 0;
  std::int64_t last_reclaim_ns = 0;
};

class Supervisor {
 public:
  Supervisor(std::string vnfs, InstancePaths paths, std::string incarnation, Host& host,
             const FsalBlocks& fsal, const env::Clock& clock, Wanted wanted);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  void set_wanted(Wanted wanted);
  // Kills the instance of that epoch if it still runs; then as after every end: fence, restart.
  void end_instance(Epoch epoch, const std::string& why);
  // LUNs, volumes or exports have changed: a running instance's instance.json is written anew, and
  // the instance told of its exports.
  void refresh();
  // False while the file of an instance that may open LUNs is older than the last refresh().
  bool refreshed() const;
  InstanceSnapshot snapshot() const;

 private:
  void run();
  void adopt();
  void finish_start();
  // What nobody else has of its VIPs (supervisor_vips.cc).
  enum class Vips { kUp, kTaken };
  Result<Vips> take_vips(const InstancePlan& plan);
  Result<InstancePlan> without_own_vips(InstancePlan plan) const;
  std::vector<TakenVip> who_else(const InstancePlan& plan);
  void look_for_holders(const InstancePlan& plan);
  void hold(std::vector<TakenVip> taken);
  std::vector<IpAddress> held_vips() const;
  void try_held_vips();
  void show_serving();
  void wake_again(std::vector<Connection> connections);
  std::vector<Connection> take_unheard();
  void give_up(const Error& error);
  void watch_running();
  void kill_if_told();
  // Its pulse (supervisor_pulse.cc): without the store, and without an answer of the instance.
  void find_pulse();
  PulseWatch::Verdict look_at_pulse();
  void attend_pulse();
  // What waits for the store or the instance is waited for in this way.
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
  void stop();
  void rewrite_instance_file();
  bool remember_luns(const InstancePlan& plan);
  void tell_exports(InstancePlan plan);
  Status tell_once(const InstancePlan& plan);
  bool is_telling() const;

  bool ending() const;
  Wanted wanted() const;
  void show(const std::string& state, const std::string& why);
  // Sleeps until something was asked for or timeout_ms are over (-1: no bound).
  void sleep(std::int64_t timeout_ms);
  std::int64_t now_ms() const { return clock_.mono_ns() / 1'000'000; }

  const std::string vnfs_;
  const InstancePaths paths_;
  const std::string incarnation_;
  Host& host_;
  const FsalBlocks& fsal_;
  const env::Clock& clock_;

  // Confined to the thread.
  std::optional<Process> process_;
  UniqueFd netns_;            // of process_; invalid: it has none any more
  std::future<void> burial_;  // of the links of the one before
  InstanceState state_;
  std::optional<fs::PulseReader> pulse_;  // none: it is judged by nothing
  PulseWatch pulse_watch_;                // of process_
  std::string pulse_error_;               // why there is none
  bool has_vips_ = false;                 // some at least, perhaps
  InstancePlan prepared_;                 // what the last standby was started with
  std::optional<InstancePlan> claimed_;   // what its claim was answered, until that was used
  InstancePlan vips_;                     // what its VIPs were brought up by
  bool serving_ = false;
  bool adopted_ = false;             // it may have served before this vnfsd started
  bool fenced_ = false;              // nothing older than the next start can reach a LUN
  bool released_ = false;            // after a stop
  bool silenced_ = false;            // nothing of it reaches its clients any more
  Farewell farewell_;                // of the instance that was stopped last
  Arrival arrival_;                  // of the one that is being started
  std::vector<Connection> left_;     // who was connected when its VIPs went, to be woken
  std::vector<Connection> to_wake_;  // clients that may not have heard that they were left
  std::int64_t wake_at_ms_ = 0;
  std::unique_ptr<VipQuestion> question_;  // about the VIPs of the one that is being started
  std::vector<TakenVip> held_;             // others have them
  std::int64_t try_vips_ms_ = 0;           // when to look again
  RestartPolicy policy_;
  std::int64_t pause_ms_ = 0;

  UniqueFd wake_;  // eventfd: something was asked for
  mutable std::mutex mutex_;
  Wanted wanted_;
  bool ending_ = false;
  bool refresh_ = false;
  std::optional<std::pair<Epoch, std::string>> end_;  // which instance is to be killed, and why
  Epoch killed_;                                      // the last one that was
  InstanceSnapshot snapshot_;
  std::future<void> telling_;  // of exports; confined to the thread
  std::thread thread_;         // last: starts when all else is there
};

}  // namespace symnas::vnfsd::instance

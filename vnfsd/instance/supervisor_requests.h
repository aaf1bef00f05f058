// SupervisorRequests: what others ask of a supervisor, and what it shows them. Thread-safe.
// Everything that another thread than the supervisor's own may touch is here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "common/base/unique_fd.h"
#include "vnfsd/instance/lifecycle.h"

namespace symnas::vnfsd::instance {

// What `symnas status` shows.
struct InstanceSnapshot {
  Phase phase = Phase::kFencing;
  int pid = 0;  // 0 = none
  std::uint64_t epoch = 0;
  std::int64_t since_ns = 0;   // wall clock, of the standing
  std::uint64_t restarts = 0;  // since vnfsd started
  std::string last_exit;
  std::string error;       // why it is not further, or what it does not serve; "": nothing is wrong
  std::string vips_taken;  // the VIPs that it has not, and who answers for them; "": none
  bool silent = false;     // its VIPs are down: its sockets do not tell who is connected
  std::vector<std::string> unheard;  // as in Farewell
  InstanceStanding standing() const { return standing_of(phase); }
  // Told by the instance's pulse, monotonic clock; 0: not yet.
  std::int64_t first_request_ns = 0;
  std::int64_t last_reclaim_ns = 0;
};

class SupervisorRequests {
 public:
  explicit SupervisorRequests(Wanted wanted);

  // --- others ask
  void set_wanted(Wanted wanted);
  // The instance of that epoch is to be killed; once.
  void end_instance(Epoch epoch, const std::string& why);
  // The instance of that epoch is to be closed, and followed by another one.
  void restart_instance(Epoch epoch);
  // The instance's file is to be written anew.
  void refresh();
  // False while the file of an instance that may open LUNs is older than the last refresh().
  bool refreshed() const;
  InstanceSnapshot snapshot() const;
  // The supervisor's thread is to end.
  void end();

  // --- the supervisor looks
  bool ending() const;
  Wanted wanted() const;
  // Why the instance of that epoch is to be killed; nullopt: it is not. Forgets orders about other
  // instances.
  std::optional<std::string> take_end(Epoch epoch);
  // Whether the instance of that epoch is to be restarted.
  bool is_restarted(Epoch epoch) const;
  // Forgets the orders to kill so far.
  void forget_end();
  void take_refresh();
  // The refresh could not be done: to be called after take_refresh(). Wakes nobody.
  void put_refresh_back();
  // Readable when something was asked for since the last sleep().
  int fd() const { return wake_.get(); }
  void wake();
  // Sleeps until something was asked for or timeout_ms are over (-1: no bound).
  void sleep(std::int64_t timeout_ms);
  // Changes what is shown; `change` gets it with the mutex held.
  template <class Change>
  void show(const Change& change) {
    const MutexLock lock(mutex_);
    change(snapshot_);
  }

 private:
  UniqueFd wake_;  // eventfd: something was asked for
  mutable Mutex mutex_;
  Wanted wanted_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
  bool refresh_ GUARDED_BY(mutex_) = false;
  // Which instance is to be killed, and why.
  std::optional<std::pair<Epoch, std::string>> end_ GUARDED_BY(mutex_);
  Epoch restarted_ GUARDED_BY(mutex_);  // the instance to restart
  Epoch killed_ GUARDED_BY(mutex_);     // the last instance that was killed
  InstanceSnapshot snapshot_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::instance

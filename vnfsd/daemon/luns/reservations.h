// Reservations: this boot's registration on the cluster's LUNs (symnas-fence register), on a thread
// of its own, and the fences that rest on it. Thread-safe.
//
// Invariants: a LUN is found by its identification, because a head that is not registered cannot
// read labels; the device used is the one that was found. A LUN whose registration ended with
// anything but success is not registered; a LUN that is away keeps no other from being registered.
// Once this boot has been fenced, nothing is registered or preempted any more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "ha/fencing/reservation_program.h"

namespace symnas::vnfsd::daemon {

// The functions of ha/fencing/reservation_program.h, bound to a program.
struct ReservationCalls {
  std::function<Result<std::map<std::string, std::string>>(const std::vector<std::string>& devices)>
      identify;
  std::function<Status(const std::string& own, const std::vector<ha::NamedLun>&)> register_boot;
  std::function<Result<std::string>(const std::string& own, const std::string& victim,
                                    const std::vector<ha::NamedLun>&)>
      preempt;
  // Whether the LUN there could fence. Errors: kNotSupported, kUnavailable.
  std::function<Status(const std::string& device)> check_capable;
  explicit operator bool() const { return static_cast<bool>(preempt); }
};

using LunNames = std::map<std::string, std::string>;  // by identification

class Reservations {
 public:
  // own: "HEAD/BOOT-ID". `changed` is called on a thread of this object when check() may return
  // something else.
  Reservations(ReservationCalls calls, std::string own, std::function<void()> changed);
  // Waits for a call that is under way.
  ~Reservations();
  Reservations(const Reservations&) = delete;
  Reservations& operator=(const Reservations&) = delete;

  // Takes all LUNs of the cluster that have an identification, and the candidates where they may be
  // (as for cvm::scan_luns). REQUIRES: the head's record says that this boot is its incarnation,
  // and it is not being fenced.
  void follow(const LunNames& luns, std::vector<std::string> candidates);
  // An instance has ended, perhaps because our key is gone: looks at the keys anew.
  void doubt();

  // Whether instances that use these LUNs may start. Errors: kPermission (this boot was fenced:
  // reboot), kUnavailable (not registered yet: why not).
  Status check(const LunNames& luns) const;
  // Whether this boot is registered on the LUN by `device`, where the LUN's label was found and
  // instances write: a LUN that was copied has two devices with one label. Looks anew, once, if the
  // registration is by another device. Errors: kUnavailable.
  Status check_device(const std::string& identification, const std::string& lun,
                      const std::string& device);
  // Waits, at most timeout_ms, until check() succeeds. Errors: as check().
  Status wait(const LunNames& luns, std::int64_t timeout_ms) const;
  // Grows with every registration: after each, more labels can be read.
  std::uint64_t registered_times() const;
  // True: nothing is registered yet, and no try has failed.
  bool undecided() const;
  // Why not all LUNs are registered, or why the last look at them failed; "": all are registered.
  std::string error() const;

  // Cuts `victim` ("HEAD/BOOT-ID") off from these LUNs, which are looked for anew; returns the
  // proof. Errors: as check() and ha::preempt_boot: nothing is proved.
  Result<std::string> preempt(const std::string& victim, const LunNames& luns);

 private:
  Status check_locked(const LunNames& luns) const REQUIRES(mutex_);
  bool is_due() const REQUIRES(mutex_);
  void run();
  struct Found {
    std::vector<ha::NamedLun> luns;
    Status all;  // why not all of them
  };
  // Errors: those of the candidates and of identify.
  Result<Found> find(const LunNames& luns, const std::vector<std::string>& candidates) const;
  Found register_found(Found found, const LunNames& wanted) const;
  bool is_ending() const;

  const ReservationCalls calls_;
  const std::string own_;
  const std::function<void()> changed_;
  mutable Mutex mutex_;
  mutable CondVar wake_;
  bool ending_ GUARDED_BY(mutex_) = false;
  bool followed_ GUARDED_BY(mutex_) = false;
  bool fenced_ GUARDED_BY(mutex_) = false;   // for ever
  bool doubted_ GUARDED_BY(mutex_) = false;  // the keys are to be looked at anew
  std::uint64_t times_ GUARDED_BY(mutex_) = 0;
  std::uint64_t wishes_ GUARDED_BY(mutex_) = 0;  // grows with every change of the wanted LUNs
  LunNames wanted_ GUARDED_BY(mutex_);
  std::vector<std::string> candidates_ GUARDED_BY(mutex_);
  // Device by identification.
  std::map<std::string, std::string> registered_ GUARDED_BY(mutex_);
  // Device by identification, where the label was found on another device than the registered one.
  std::map<std::string, std::string> disputed_ GUARDED_BY(mutex_);
  std::string error_ GUARDED_BY(mutex_);
  std::thread thread_;  // last
};

}  // namespace symnas::vnfsd::daemon

// Reservations: this boot's registration on the cluster's LUNs (symnas-fence register), on a thread
// of its own, and the fences that rest on it. Thread-safe.
//
// Invariants: a LUN is found by its identification, because a head that is not registered cannot
// read labels; what is used of it is the device that was found. What ended with anything but
// success is not registered; one LUN that is away keeps no other from it. Once this boot has been
// fenced, nothing is registered or preempted any more.
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

// ha/fencing/reservation_program.h, without the program.
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
  // own: "HEAD/BOOT-ID". `changed` is called on a thread of this object when check() may say
  // something else.
  Reservations(ReservationCalls calls, std::string own, std::function<void()> changed);
  // Waits for a call that is under way.
  ~Reservations();
  Reservations(const Reservations&) = delete;
  Reservations& operator=(const Reservations&) = delete;

  // All LUNs of the cluster that have an identification, and where they may be (as of
  // cvm::scan_luns). REQUIRES: the head's record says that this boot is its incarnation, and it is
  // not being fenced.
  void follow(const LunNames& luns, std::vector<std::string> candidates);
  // An instance has ended: perhaps because our key is gone.
  void doubt();

  // Whether instances that use these LUNs may start. Errors: kPermission (this boot was fenced:
  // reboot), kUnavailable (not registered yet: why not).
  Status check(const LunNames& luns) const;
  // Whether it is registered by the device where the LUN's label was found, and instances write: a
  // LUN that was copied has two devices with one label. Looks anew, once, if it is another one.
  // Errors: kUnavailable.
  Status check_device(const std::string& identification, const std::string& lun,
                      const std::string& device);
  // check() that waits for it. Errors: as check().
  Status wait(const LunNames& luns, std::int64_t timeout_ms) const;
  // How often something was registered: with each more labels can be read.
  std::uint64_t registered_times() const;
  // Nothing is registered yet, and nobody knows why that might fail.
  bool undecided() const;
  // Why not all of it is registered, or the last look at it failed; "" = it is.
  std::string error() const;

  // Cuts `victim` ("HEAD/BOOT-ID") off from these LUNs, which are looked for anew; answers the
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
  std::uint64_t wishes_ GUARDED_BY(mutex_) = 0;  // grows with every change of what is wanted
  LunNames wanted_ GUARDED_BY(mutex_);
  std::vector<std::string> candidates_ GUARDED_BY(mutex_);
  // Device by identification.
  std::map<std::string, std::string> registered_ GUARDED_BY(mutex_);
  // The same, where labels were found.
  std::map<std::string, std::string> disputed_ GUARDED_BY(mutex_);
  std::string error_ GUARDED_BY(mutex_);
  std::thread thread_;  // last
};

}  // namespace symnas::vnfsd::daemon

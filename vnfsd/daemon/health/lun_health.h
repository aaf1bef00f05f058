// Whether this head reaches its LUNs well: a small read per LUN and second, each LUN's on a thread
// of its own that may hang for ever without harm.
//
// Thread-safe. What follows from the answers of one LUN: health.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/thread_annotations.h"
#include "vnfsd/daemon/health/health.h"
#include "vnfsd/instance/plan.h"

namespace symnas::vnfsd::daemon {

class LunCanaries {
 public:
  // `changed` is called on a thread of this object when what ill() or worse() say has changed.
  explicit LunCanaries(std::function<void()> changed);
  // Leaves threads behind that hang in a LUN.
  ~LunCanaries();
  LunCanaries(const LunCanaries&) = delete;
  LunCanaries& operator=(const LunCanaries&) = delete;

  // These LUNs are watched from now on. Of `cluster` (uuids, text) those that were, and are among
  // them no more, have gone from this head: as if every read of them failed, but never worse().
  void follow(const std::vector<instance::LunPath>& luns, const std::set<std::string>& cluster);
  // Of those that are not well: why, by LUN uuid (text).
  std::map<std::string, std::string> ill() const;
  // Those that have been ill for long (Health::State::kWorse).
  std::set<std::string> worse() const;

 private:
  struct Canary;
  static void read_again_and_again(const std::shared_ptr<Canary>& canary);
  void run();
  // Answers whether who is ill has changed.
  bool look() REQUIRES(mutex_);

  const std::function<void()> changed_;
  mutable Mutex mutex_;
  CondVar ending_now_;
  bool ending_ GUARDED_BY(mutex_) = false;
  // By LUN uuid.
  std::map<std::string, std::shared_ptr<Canary>> canaries_ GUARDED_BY(mutex_);
  std::map<std::string, std::string> ill_ GUARDED_BY(mutex_);
  std::set<std::string> worse_ GUARDED_BY(mutex_);
  std::thread thread_;  // last
};

}  // namespace symnas::vnfsd::daemon

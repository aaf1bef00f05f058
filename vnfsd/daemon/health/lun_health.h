// LunCanaries: finds out whether this head reaches its LUNs well, by a small read per LUN and
// second, each LUN's on a thread of its own that may hang for ever without harm.
//
// Thread-safe. How the answers of one LUN are judged: health.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/histogram.h"
#include "common/base/thread_annotations.h"
#include "vnfsd/daemon/health/health.h"
#include "vnfsd/daemon/health/limits.h"
#include "vnfsd/instance/plan.h"

namespace symnas::vnfsd::daemon {

// What the small reads of a LUN were like since this head watches it at its present path.
struct LunReads {
  std::string uuid;  // text
  std::string name;
  std::uint64_t errors = 0;
  Histogram seconds{kLunReadBoundsS};  // of those that were answered without an error
  std::int64_t waiting_ms = 0;         // how long the read under way has waited; 0: none is
};

class LunCanaries {
 public:
  // `changed` is called on a thread of this object when ill() or worse() return something else than
  // before.
  explicit LunCanaries(std::function<void()> changed);
  // Leaves threads behind that hang in a LUN.
  ~LunCanaries();
  LunCanaries(const LunCanaries&) = delete;
  LunCanaries& operator=(const LunCanaries&) = delete;

  // Watches these LUNs from now on. LUNs of `cluster` (uuids, text) that were watched and are not
  // among them any more have gone from this head: they count as if every read of them failed, but
  // never become worse().
  void follow(const std::vector<instance::LunPath>& luns, const std::set<std::string>& cluster);
  // The LUNs that are not well, by uuid (text), with the reason.
  std::map<std::string, std::string> ill() const;
  // Those that have been ill for long (Health::State::kWorse).
  std::set<std::string> worse() const;
  std::vector<LunReads> reads() const;

 private:
  struct Canary;
  static void read_again_and_again(const std::shared_ptr<Canary>& canary);
  void run();
  // Returns whether ill() or worse() has changed.
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

// Whether this head reaches its LUNs well: a small read per LUN and second, each LUN's on a thread
// of its own that may hang for ever without harm.
//
// Thread-safe. What follows from the answers of one LUN: health.h.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

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
  bool look();

  const std::function<void()> changed_;
  mutable std::mutex mutex_;
  std::condition_variable ending_now_;
  bool ending_ = false;
  std::map<std::string, std::shared_ptr<Canary>> canaries_;  // by LUN uuid
  std::map<std::string, std::string> ill_;
  std::set<std::string> worse_;
  std::thread thread_;  // last
};

}  // namespace symnas::vnfsd::daemon

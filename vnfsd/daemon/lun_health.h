// Whether this head reaches its LUNs well: a small read per LUN and second, each LUN's on a thread
// of its own that may hang for ever without harm.
//
// LunHealth: what follows from the answers of one LUN; pure, thread-compatible. LunCanaries: the
// threads; thread-safe. Invariant: one slow or failed read says nothing; a LUN that was ill is well
// again only after kLunWellMs without a fault, so that nothing moves to and fro with it.
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

#include "vnfsd/instance/plan.h"

namespace symnas::vnfsd::daemon {

class LunHealth {
 public:
  // A read begins.
  void asked(std::int64_t now_ms);
  // It ended; "" = well.
  void answered(std::int64_t now_ms, const std::string& error);

  // Ill: nothing that needs the LUN is to be brought here. kWorse: for so long that every other
  // head that has the fault too has said so, and what is here may go to one that has not.
  enum class State { kWell, kIll, kWorse };
  State look(std::int64_t now_ms);
  // Why it is ill, for a person; "" = it is not.
  const std::string& why() const { return why_; }

 private:
  bool fails(std::int64_t now_ms) const;

  std::int64_t asked_ms_ = -1;    // of the read under way; -1: none is
  std::int64_t failing_ms_ = -1;  // since when every read has failed; -1: the last was answered
  int failures_ = 0;              // in a row
  std::string error_;             // of the last of them
  std::int64_t ill_ms_ = -1;      // since when; -1: it is well
  std::int64_t well_ms_ = -1;     // an ill one: since when nothing has failed
  std::string why_;
};

class LunCanaries {
 public:
  // `changed` is called on a thread of this object when what ill() or worse() say has changed.
  explicit LunCanaries(std::function<void()> changed);
  // Leaves threads behind that hang in a LUN.
  ~LunCanaries();
  LunCanaries(const LunCanaries&) = delete;
  LunCanaries& operator=(const LunCanaries&) = delete;

  // These LUNs are watched from now on.
  void follow(const std::vector<instance::LunPath>& luns);
  // Of those that are not well: why, by LUN uuid (text).
  std::map<std::string, std::string> ill() const;
  // Those that have been ill for long (LunHealth::State::kWorse).
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

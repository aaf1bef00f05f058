// PulseWatch: decides from the pulse of a running instance (fsal_cluster/pulse) whether its VIPs
// are to be up, and whether the instance is to be ended. Pure; the caller brings pulse and time.
// Thread-compatible.
//
// Invariant: VIPs are wanted again only while the gate is open, by a proof that came after they
// were removed, and never of an instance that is being ended; an instance is never blamed for time
// in which nobody looked.
#pragma once

#include <cstdint>

#include "fsal_cluster/pulse/pulse.h"

namespace symnas::vnfsd::instance {

class PulseWatch {
 public:
  enum class Action {
    kGoOn,
    kHide,  // the instance cannot prove that it may answer: its VIPs are to be removed
    kShow,  // the instance can prove it again: its VIPs are to be put back
    kEnd,   // the instance stands still, or is being ended
  };
  // now_ns: CLOCK_MONOTONIC. An action is returned once and counts as carried out; call undo() if
  // the action was not. kEnd is returned again and again.
  Action look(std::int64_t now_ns, const fs::Pulse& pulse);
  void undo() { hidden_ = !hidden_; }
  // The instance is being killed. From now on its VIPs are to be down, however long its death
  // takes.
  void end() { ending_ = true; }
  bool ending() const { return ending_; }
  bool hidden() const { return hidden_ || ending_; }

 private:
  bool hidden_ = false;
  bool ending_ = false;
  std::int64_t looked_ns_ = 0;  // 0: not yet
  std::int64_t beat_ns_ = 0;    // the last beat seen
  std::int64_t since_ns_ = 0;   // when that beat was seen first
};

}  // namespace symnas::vnfsd::instance

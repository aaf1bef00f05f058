// PulseWatch: what follows from the pulse of a running instance (fsal_cluster/pulse) for its VIPs
// and for itself. Pure; the caller brings pulse and time. Thread-compatible.
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
  enum class Verdict {
    kGoOn,
    kHide,  // it cannot prove that it may answer: its VIPs are to be removed
    kShow,  // it can again: they are to be put back
    kEnd,   // it stands still, or is being ended
  };
  // now_ns: CLOCK_MONOTONIC. A verdict is given once and counts as carried out; undo() if it was
  // not. kEnd is given again.
  Verdict look(std::int64_t now_ns, const fs::Pulse& pulse);
  void undo() { hidden_ = !hidden_; }
  // It is killed. From now on its VIPs are to be down, however long its death takes.
  void end() { ending_ = true; }
  bool ending() const { return ending_; }
  bool hidden() const { return hidden_ || ending_; }

 private:
  bool hidden_ = false;
  bool ending_ = false;
  std::int64_t looked_ns_ = 0;  // 0: not yet
  std::int64_t beat_ns_ = 0;    // the last one seen
  std::int64_t since_ns_ = 0;   // when it was seen first
};

}  // namespace symnas::vnfsd::instance

// PulseSight: the pulse of the instance's process, found and read. Needs neither the store nor an
// answer of the instance. Thread-compatible.
#pragma once

#include <optional>
#include <string>

#include "common/env/clock.h"
#include "fsal_cluster/pulse/pulse.h"
#include "vnfsd/instance/pulse_watch.h"
#include "vnfsd/instance/supervisor_requests.h"

namespace symnas::vnfsd::instance {

class PulseSight {
 public:
  PulseSight(std::string vnfs, SupervisorRequests& shown, const env::Clock& clock)
      : vnfs_(std::move(vnfs)), shown_(shown), clock_(clock) {}

  // There is a new process: nothing of the last one counts.
  void begin();
  // What the pulse of process `pid` says; looks for it until it is found. kDoubt: there is none.
  PulseWatch::Verdict look(int pid);
  // Whether the instance may answer now. True of a process whose pulse cannot be read: it is judged
  // by nothing.
  bool may_answer() const;

 private:
  const std::string vnfs_;
  SupervisorRequests& shown_;
  const env::Clock& clock_;
  std::optional<fs::PulseReader> reader_;
  PulseWatch watch_;
  std::string error_;  // why there is no reader
};

}  // namespace symnas::vnfsd::instance

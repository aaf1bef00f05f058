// InstanceReader: asks the instances of this head what their metrics are, every kInstanceReadMs.
// One that hangs keeps the others from being asked for its time-out; what it said before stays, and
// becomes old. Thread class: works on a loop of its own; said() is thread-safe and waits for
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "common/base/thread_annotations.h"
#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/metrics/sights.h"

namespace symnas::vnfsd::daemon {

class InstanceReader {
 public:
  using Said = metrics::InstanceSight::Said;
  // Asks the instance of the VNFS; age_s is not set. Errors: it does not say.
  using Ask = std::function<Result<Said>(const std::string& vnfs, int pid)>;

  InstanceReader(const ThisHead& head, const Instances& instances, Ask ask, std::stop_token end);

  void start();
  // Waits for the loop. REQUIRES: the end was asked for.
  void join() { loop_.join(); }
  // One turn of the loop. REQUIRES: it was not started.
  void look();

  // By VNFS, of those that run.
  std::map<std::string, Said> said() const;

 private:
  struct Answer {
    int pid = 0;
    std::int64_t at_ns = 0;  // monotonic
    Said said;
  };

  const ThisHead& head_;
  const Instances& instances_;
  const Ask ask_;
  mutable Mutex mutex_;  // leaf
  std::map<std::string, Answer> answers_ GUARDED_BY(mutex_);
  Loop loop_;  // last
};

// Asks the instance by its control socket, and the kernel for its memory.
InstanceReader::Ask ask_by_control(const Config& config);

}  // namespace symnas::vnfsd::daemon

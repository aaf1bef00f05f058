// Beat: shows vnfsd that this instance runs and until when it may answer (fsal_cluster/pulse).
//
// Thread class: owns one thread, which waits for nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <thread>

#include "common/base/thread_annotations.h"
#include "fsal_cluster/pulse/pulse.h"

namespace symnas::plugin {

class Beat {
 public:
  // `look` returns what to show (without Pulse::beat_ns). It is called on the thread and must not
  // block.
  explicit Beat(std::function<fs::Pulse()> look);
  ~Beat();
  Beat(const Beat&) = delete;
  Beat& operator=(const Beat&) = delete;

 private:
  void run(fs::PulseWriter& page);

  const std::function<fs::Pulse()> look_;
  Mutex mutex_;
  CondVar stopped_;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace symnas::plugin

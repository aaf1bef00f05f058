// LunTouch: reads a block of a mount's volume, past the gate, whatever stands in it. That the read
// succeeds is a sign of life (state/gate.h): a fence that cuts this head off from its LUNs would
// have refused it. That it is refused tells a head that hears nothing of etcd that it was fenced.
//
// Thread-safe. One read is under way at a time: a LUN that hangs gets no more of them.
#pragma once

#include <functional>
#include <memory>

#include "common/base/result.h"
#include "common/base/thread_annotations.h"
#include "cvm/volume_io.h"
#include "fsal_cluster/state/gate.h"

namespace symnas::fs {

class LunTouch {
 public:
  // `gate` outlives it. `on_fenced` is called on a thread of the volume, each time.
  LunTouch(std::shared_ptr<cvm::VolumeIo> volume, Gate& gate, std::function<void(Error)> on_fenced);
  // Waits for the read that is under way.
  ~LunTouch();
  LunTouch(const LunTouch&) = delete;
  LunTouch& operator=(const LunTouch&) = delete;

  // Begins a read, unless one is under way.
  void begin();

 private:
  void ended(std::int64_t begun_ns, const Status& read);

  const std::shared_ptr<cvm::VolumeIo> volume_;
  Gate& gate_;
  const std::function<void(Error)> on_fenced_;
  cvm::Buffer buffer_;
  Mutex mutex_;
  CondVar idle_;
  bool reads_ GUARDED_BY(mutex_) = false;
};

}  // namespace symnas::fs

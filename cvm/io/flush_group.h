// FlushGroup: decides which flush callers share one round of device flushes. Pure: no I/O, no lock
// of its own.
//
// Thread class: thread-compatible; the owner's mutex guards it.
// Invariant: a caller takes part only in a round that starts after it joined, because a device
// flush that was submitted earlier need not cover the caller's writes.
#pragma once

#include <utility>
#include <vector>

#include "common/base/check.h"
#include "cvm/volume_io.h"

namespace symnas::cvm {

class FlushGroup {
 public:
  enum class Next {
    kStartRound,  // call start_round() now
    kWait,        // a round runs; finish_round() will tell when the next one starts
    kIdle,
  };

  // Adds a caller.
  Next join(IoCallback done) {
    waiting_.push_back(std::move(done));
    if (running_) return Next::kWait;
    running_ = true;
    return Next::kStartRound;
  }

  // The callers of the round that starts. REQUIRES: join() or finish_round() returned kStartRound.
  std::vector<IoCallback> start_round() {
    CHECK(running_ && !waiting_.empty());
    return std::exchange(waiting_, {});
  }

  // The round is over. Returns kStartRound when callers have joined meanwhile, else kIdle.
  Next finish_round() {
    CHECK(running_);
    if (!waiting_.empty()) return Next::kStartRound;
    running_ = false;
    return Next::kIdle;
  }

 private:
  bool running_ = false;
  std::vector<IoCallback> waiting_;  // each is an NFS operation in progress, which bounds them
};

}  // namespace symnas::cvm

// AnswerWatcher: has instances of this head ended whose workers are dead. Each instance is asked a
// NULL call from inside its own namespace. The answer needs no network, no store and no LUN: an
// instance that runs and is allowed to answer does. (A macvlan hides the VIP from this head;
// whether clients reach it is a matter of networks.) Thread class: works on a loop of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "vnfsd/daemon/head/loop.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/instances/instances.h"
#include "vnfsd/daemon/instances/worker_silence.h"

namespace symnas::vnfsd::daemon {

class AnswerWatcher {
 public:
  // Asks the process; blocks for kAskMs at most. Thread-safe.
  using Ask = std::function<WorkerSilence::NullReply(int pid)>;

  AnswerWatcher(const ThisHead& head, Instances& instances, Ask ask, std::stop_token end);

  void start();
  // Waits for the loop. REQUIRES: the end was asked for.
  void join() { loop_.join(); }
  // One turn of the loop: asks each instance that serves. REQUIRES: it was not started.
  void look();

 private:
  const ThisHead& head_;
  Instances& instances_;
  const Ask ask_;
  std::map<std::string, WorkerSilence> silences_;  // by VNFS
  Loop loop_;                                      // last
};

// Makes a NULL call to the process.
WorkerSilence::NullReply ask_instance(int pid, const env::Clock& clock);

}  // namespace symnas::vnfsd::daemon

// LiveInstance: the process of a VNFS's instance on this head, with its network namespace and its
// state file. Thread class: thread-compatible; lose() works on a thread of its own.
//
// Invariant: the state file describes the process before it can open a LUN.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "common/env/clock.h"
#include "vnfsd/instance/plan.h"
#include "vnfsd/instance/process.h"
#include "vnfsd/instance/state_file.h"

namespace symnas::vnfsd::instance {

class LiveInstance {
 public:
  LiveInstance(std::string vnfs, InstancePaths paths, const env::Clock& clock)
      : vnfs_(std::move(vnfs)), paths_(std::move(paths)), clock_(clock) {}

  // Takes over what an earlier vnfsd of this boot (`incarnation`) has left.
  enum class Left {
    kNothing,
    kInstance,
    kRetiring,  // it was told to close its mounts
    kStandby,   // or may be one: nobody knows any more whether it was called
  };
  Left adopt(const std::string& incarnation);
  // Starts the process. REQUIRES: prepare_directory(); there is none. Errors: those of launch().
  Status launch(const InstancePlan& plan);
  // The standby is to be an instance like any other, of the plan that was claimed. Errors: kIo.
  Status becomes_owner(const InstancePlan& plan);
  // It is told to close its mounts, or its clients' connections are over: the next vnfsd has to
  // know.
  void note_retiring();
  void note_connections(const std::vector<std::string>& connections);
  // Adds the plan's LUNs; what is known stays, the instance has opened that. Errors: kIo.
  Status remember_luns(const InstancePlan& plan);

  bool exists() const { return process_.has_value(); }
  // REQUIRES: exists().
  const Process& process() const { return *process_; }
  int pid() const { return process_ ? process_->id().pid : 0; }
  int netns() const { return netns_.get(); }
  // Of the last process, too.
  Epoch epoch() const { return state_.epoch; }
  const InstanceState& state() const { return state_; }
  // "pid 12, epoch 3", for the log.
  std::string name() const;

  // The process has ended: the links of its namespace go, which takes time.
  void lose();
  // Waits until they have gone.
  void await_burial();

 private:
  bool add_luns(const InstancePlan& plan);
  Status record() const;
  void take(Process process);

  const std::string vnfs_;
  const InstancePaths paths_;
  const env::Clock& clock_;
  std::optional<Process> process_;
  UniqueFd netns_;            // of process_; invalid: it has none any more
  std::future<void> burial_;  // of the links of the instance before
  InstanceState state_;
};

}  // namespace symnas::vnfsd::instance

// CorosyncWatch: listens to corosync through symnas-corosync-watch, which it starts, and starts
// again when it ends. Thread class: thread-safe; works on a thread of its own, so that whatever
// corosync and the program do nobody waits. CorosyncSights is what an agent needs of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "common/base/spawn.h"
#include "common/base/thread_annotations.h"
#include "common/base/unique_fd.h"
#include "common/env/clock.h"
#include "ha/detection/corosync/witness.h"

namespace symnas::ha {

// Thread class: thread-safe.
class CorosyncSights {
 public:
  virtual ~CorosyncSights() = default;
  // As CorosyncWitness::sight(), now.
  virtual CorosyncSight sight(const CorosyncWitness::Heads& heads) const = 0;
};

struct CorosyncWatchTimes {
  std::int64_t again_ms = 2'000;   // after its end the program is started again
  std::int64_t stuck_ms = 30'000;  // a program that says nothing for so long is killed
};

class CorosyncWatch final : public CorosyncSights {
 public:
  // `program`: the absolute path of symnas-corosync-watch.
  CorosyncWatch(std::string program, const env::Clock& clock, const CorosyncWatchTimes& times = {});
  ~CorosyncWatch() override;
  CorosyncWatch(const CorosyncWatch&) = delete;
  CorosyncWatch& operator=(const CorosyncWatch&) = delete;

  CorosyncSight sight(const CorosyncWitness::Heads& heads) const override;

 private:
  void run();
  // Runs the program until its end or ours; returns why it tells nothing any more.
  std::string listen();
  std::string read_lines(const Pipe& output, const Pipe& errors);
  Status take_line(std::string_view line);
  void ended(const std::string& why);
  bool is_ending(std::int64_t wait_ms) const;
  std::int64_t now_ms() const { return clock_.mono_ns() / 1'000'000; }

  const std::string program_;
  const env::Clock& clock_;
  const CorosyncWatchTimes times_;
  UniqueFd end_;  // eventfd: this object's end
  // Confined to the thread: why corosync was not heard last, as the log has it; "": it is heard.
  std::string last_told_ = "not yet";

  mutable Mutex mutex_;  // leaf
  CorosyncWitness witness_ GUARDED_BY(mutex_);
  std::thread thread_;  // last
};

}  // namespace symnas::ha

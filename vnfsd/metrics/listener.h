// Listener: keeps symnas-metrics running, which serves the page over the network. It is started
// again when it ends. Thread class: made and destroyed by one thread; works on a thread of its own.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "common/base/unique_fd.h"
#include "vnfsd/config/config.h"

namespace symnas::vnfsd::metrics {

class Listener {
 public:
  // `program`: the absolute path of symnas-metrics; `directory`: of the page.
  Listener(std::string program, const MetricsConfig& config, const std::string& directory);
  // Ends the program.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  void run();
  // Runs the program until its end or ours; returns for how many milliseconds it has run.
  std::int64_t run_once();
  bool is_ending(std::int64_t wait_ms) const;

  const std::string program_;
  std::vector<std::string> arguments_;
  UniqueFd end_;  // eventfd: this object's end
  std::thread thread_;
};

}  // namespace symnas::vnfsd::metrics

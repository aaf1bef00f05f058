// LogBound: keeps the size of a running instance's log bounded (instance_log.h). Thread class:
// thread-compatible; copies on a thread of its own.
#pragma once

#include <cstdint>
#include <future>
#include <string>

namespace symnas::vnfsd::instance {

class LogBound {
 public:
  LogBound(std::string vnfs, std::string path) : vnfs_(std::move(vnfs)), path_(std::move(path)) {}
  // Looks at the log, if that is due.
  void look(std::int64_t now_ms);

 private:
  const std::string vnfs_;
  const std::string path_;
  std::int64_t look_ms_ = 0;   // when to look again
  std::future<void> looking_;  // it may copy for a while
};

}  // namespace symnas::vnfsd::instance

// Control: what vnfsd tells this instance while it runs, through a Unix socket in the instance's
// directory (docs/formats/instance_control.md): one line with a command, one line of JSON as
// answer.
//
// Thread class: owns one thread, which runs the commands one after the other.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "common/base/unique_fd.h"

namespace symnas::plugin {

class Control {
 public:
  // Answers one line (without its end) for one line. Called on the thread.
  using Command = std::function<std::string(const std::string& line)>;

  // Listens on `path`, which is removed first. What cannot be listened on is logged: moves then end
  // the instance without its help.
  Control(std::string path, Command command);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

 private:
  void run();
  void serve(int connection);

  const std::string path_;
  const Command command_;
  UniqueFd listener_;
  std::thread thread_;
};

}  // namespace symnas::plugin

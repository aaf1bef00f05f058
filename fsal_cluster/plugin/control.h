// Control: commands from vnfsd to this running instance, through a Unix socket in the instance's
// directory (docs/formats/instance_control.md): one line with a command, answered by lines of JSON.
//
// Thread class: owns one thread, which runs the commands one after the other.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include <nlohmann/json_fwd.hpp>

#include "common/base/unique_fd.h"

namespace symnas::plugin {

class Control {
 public:
  // Sends one line of an answer.
  using Say = std::function<void(const nlohmann::json& line)>;
  // Called on the thread, once for each line.
  using Command = std::function<void(const std::string& line, const Say& say)>;

  // Listens on `path`; a file that was there is removed first. A failure to listen is logged: then
  // a move ends the instance without its help.
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

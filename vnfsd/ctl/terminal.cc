#include "vnfsd/ctl/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

namespace symnas::vnfsd::ctl {
namespace {

bool names_utf8(const std::string& locale) {
  for (const char* const word : {"UTF-8", "utf-8", "UTF8", "utf8"})
    if (locale.find(word) != std::string::npos) return true;
  return false;
}

// Nothing is lost by it: each look is written whole, and nothing has to be undone.
void end_well(int /*signal*/) { ::_exit(0); }

bool take_signals() {
  struct sigaction action = {};
  action.sa_handler = end_well;
  return ::sigaction(SIGINT, &action, nullptr) == 0 && ::sigaction(SIGTERM, &action, nullptr) == 0;
}

}  // namespace

Terminal terminal_of(int fd, const std::function<std::string(const char*)>& environment) {
  Terminal terminal;
  terminal.is_terminal = ::isatty(fd) == 1;
  const std::string kind = environment("TERM");
  terminal.is_dumb = kind.empty() || kind == "dumb";
  terminal.no_colour = !environment("NO_COLOR").empty();
  winsize size{};
  if (terminal.is_terminal && ::ioctl(fd, TIOCGWINSZ, &size) == 0) {
    if (size.ws_col != 0) terminal.columns = size.ws_col;
    if (size.ws_row != 0) terminal.rows = size.ws_row;
  }
  // The first of them that is set counts (locale(7)). What goes into a file is UTF-8.
  std::string locale;
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (locale.empty()) locale = environment(name);
  if (terminal.is_terminal && !names_utf8(locale)) terminal.charset = Charset::kAscii;
  return terminal;
}

Surroundings real_surroundings() {
  const auto look = [] {
    return terminal_of(STDOUT_FILENO, [](const char* name) -> std::string {
      const char* const value = std::getenv(name);
      return value == nullptr ? "" : value;
    });
  };
  const auto wait = [](std::chrono::milliseconds time) {
    static const bool taken = take_signals();
    std::this_thread::sleep_for(time);
    return taken;
  };
  return {look(), look, wait};
}

}  // namespace symnas::vnfsd::ctl

#include "vnfsd/instance/crash_point.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "common/base/log.h"

namespace symnas::vnfsd {

void crash_point(std::string_view step, const std::string& name) {
  static const std::string chosen = [] {
    const char* const text = std::getenv("SYMNAS_CRASH_AT");
    return std::string(text == nullptr ? "" : text);
  }();
  if (chosen.empty() || chosen != std::string(step) + ' ' + name) return;
  log::warn("{}: ends at crash point '{}'", name, step);
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

}  // namespace symnas::vnfsd

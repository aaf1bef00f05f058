// Terminal: what the standard output is, and how symnas waits on it. Thread-compatible.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "vnfsd/ctl/safe_text.h"

namespace symnas::vnfsd::ctl {

struct Terminal {
  bool is_terminal = false;  // else a pipe or a file
  bool is_dumb = false;      // TERM says that it knows no sequences: neither colours nor redrawing
  bool no_colour = false;    // NO_COLOR (https://no-color.org)
  std::size_t columns = 80;
  std::size_t rows = 24;
  Charset charset = Charset::kUtf8;
};

// Of the file descriptor, and the environment as `environment` gives it ("" = not set).
Terminal terminal_of(int fd, const std::function<std::string(const char*)>& environment);

// What run_symnas() uses beside its streams.
struct Surroundings {
  Terminal terminal;
  // Looks again, because the size of a terminal changes.
  std::function<Terminal()> look = [] { return Terminal{}; };
  // False: the command is to end.
  std::function<bool(std::chrono::milliseconds)> wait = [](std::chrono::milliseconds) {
    return false;
  };
};

// Those of this process. From the first call of `wait` on SIGINT and SIGTERM end the process with 0
// at once, whatever it waits for.
Surroundings real_surroundings();

}  // namespace symnas::vnfsd::ctl

// fuse_lun: serves files as LUNs with faults through FUSE, with one mount per head.
//
//   fuse_lun --socket PATH --view HEAD=DIRECTORY ... [--lun NAME=FILE ...]
//
// Prints "serving" when the mounts exist. SIGTERM and SIGINT unmount and end it. The control
// protocol is in control.h. Exit status: 0 ended by a signal, 2 usage, 3 no FUSE or no socket.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/fuse_lun/control.h"
#include "tests/support/fuse_lun/fuse_view.h"

namespace {

using symnas::fuse_lun::Control;
using symnas::fuse_lun::FuseView;
using symnas::fuse_lun::LunSet;

struct Pair {
  std::string name;
  std::string value;
};

struct Options {
  std::string socket;
  std::vector<Pair> views;
  std::vector<Pair> luns;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    const std::string value = argv[i + 1];
    if (option == "--socket") {
      options.socket = value;
      continue;
    }
    const std::size_t equals = value.find('=');
    if (equals == std::string::npos) return false;
    const Pair pair{value.substr(0, equals), value.substr(equals + 1)};
    if (option == "--view")
      options.views.push_back(pair);
    else if (option == "--lun")
      options.luns.push_back(pair);
    else
      return false;
  }
  return argc % 2 == 1 && !options.socket.empty() && !options.views.empty();
}

int failed(const symnas::Status& status) {
  std::fprintf(stderr, "fuse_lun: %s\n", status.error().message.c_str());
  return 3;
}

int serve(const Options& options, LunSet& luns, Control& control, const sigset_t& endings) {
  for (const Pair& lun : options.luns)
    if (const symnas::Status added = luns.add(lun.name, lun.value); !added) return failed(added);
  std::vector<std::unique_ptr<FuseView>> views;
  const auto unmount_all = [&views] {
    for (const auto& view : views) view->unmount();
  };
  for (const Pair& wanted : options.views) {
    auto view = FuseView::mount(wanted.name, wanted.value, luns);
    if (!view) {
      unmount_all();
      return failed(symnas::fail(view.error().code, view.error().message));
    }
    views.push_back(std::move(*view));
  }
  if (const symnas::Status listening = control.listen(options.socket); !listening) {
    unmount_all();
    return failed(listening);
  }
  std::thread([&control] { control.serve(); }).detach();
  std::printf("serving\n");
  std::fflush(stdout);
  int number = 0;
  ::sigwait(&endings, &number);
  unmount_all();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: fuse_lun --socket PATH --view HEAD=DIRECTORY ... [--lun NAME=FILE ...]\n");
    return 2;
  }
  // Before the first thread, so that all threads inherit it.
  sigset_t endings;
  sigemptyset(&endings);
  sigaddset(&endings, SIGTERM);
  sigaddset(&endings, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &endings, nullptr);
  LunSet luns;
  Control control(luns);
  // Threads serve until the process ends: no destructor may run under them.
  std::_Exit(serve(options, luns, control, endings));
}

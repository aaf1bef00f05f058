// nfs_model: random NFSv3 operations on a server compared with an in-memory model.
//
// usage: nfs_model --url nfs://ADDRESS/EXPORT [--url ...] [--ops 10000] [--seed N] [--outages S]
// Prints the seed first; after a difference it prints the last operations and the command that
// replays them. --outages S: the server may be killed meanwhile; it has S seconds to come back.
// After --ops operations the run goes on until SIGTERM; a SIGTERM before that ends it at --ops.
// Without --outages SIGTERM ends the operations early. The tree is compared in any case. Exit
// status: 0 no difference, 1 a difference, 2 usage, 3 the server cannot be reached.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/client/model/model_run.h"

namespace {

using symnas::model::Difference;
using symnas::model::ModelRun;
using symnas::nfs3::Nfs3Client;
using symnas::nfs3::Url;

struct Options {
  std::vector<std::string> urls;
  std::uint64_t operations = 10'000;
  std::uint64_t seed = 0;
  int patience_s = 0;  // 0: an outage is a difference
};

volatile sig_atomic_t stop_requested = 0;

bool parse(int argc, char** argv, Options& options) {
  options.seed = static_cast<std::uint64_t>(
      std::chrono::system_clock::now().time_since_epoch().count() % 1'000'000'007);
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--url") {
      options.urls.emplace_back(argv[i + 1]);
    } else if (name == "--ops") {
      options.operations = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "--seed") {
      options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "--outages") {
      options.patience_s = std::atoi(argv[i + 1]);
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && !options.urls.empty() && options.operations > 0;
}

bool connect(const Options& options, ModelRun::Clients& clients) {
  for (const std::string& text : options.urls) {
    const auto url = Url::parse(text);
    std::string error = "no NFS URL";
    if (url) clients.push_back(Nfs3Client::mount(*url, error));
    if (!url || clients.back() == nullptr) {
      std::fprintf(stderr, "nfs_model: %s: %s\n", text.c_str(), error.c_str());
      return false;
    }
    clients.back()->set_identity(0, 0);
  }
  return true;
}

void report(const Options& options, const ModelRun* run, std::uint64_t done, const char* what) {
  std::printf("nfs_model: DIFFERENCE after %llu operations: %s\n",
              static_cast<unsigned long long>(done), what);
  if (run != nullptr) {
    for (const std::string& line : run->recent()) std::printf("  %s\n", line.c_str());
  }
  std::printf("replay: nfs_model");
  for (const std::string& url : options.urls) std::printf(" --url %s", url.c_str());
  std::printf(" --ops %llu --seed %llu\n", static_cast<unsigned long long>(options.operations),
              static_cast<unsigned long long>(options.seed));
}

bool goes_on(const Options& options, std::uint64_t done) {
  const bool told = stop_requested != 0;
  return options.patience_s > 0 ? done < options.operations || !told
                                : done < options.operations && !told;
}

int run_model(const Options& options) {
  ModelRun::Clients clients;
  if (!connect(options, clients)) return 3;
  std::unique_ptr<ModelRun> run;
  std::uint64_t done = 0;
  try {
    const std::string name =
        "model-" + std::to_string(options.seed) + "-" + std::to_string(getpid());
    run = std::make_unique<ModelRun>(std::move(clients), options.seed, name);
    if (options.patience_s > 0) run->ride_outages(options.patience_s * 1000);
    std::printf("running\n");
    std::fflush(stdout);
    for (; goes_on(options, done); ++done) run->step();
    std::printf("nfs_model: comparing all\n");
    std::fflush(stdout);
    run->verify_all();
    run->remove_all();
  } catch (const Difference& difference) {
    report(options, run.get(), done, difference.what());
    return 1;
  }
  std::printf("nfs_model: %llu operations, %llu comparisons, no difference\n",
              static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(run->differences_checked()));
  if (options.patience_s > 0) {
    std::printf("{\"operations\": %llu, \"outages\": %llu, \"bytes_sent_again\": %llu}\n",
                static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(run->outages()),
                static_cast<unsigned long long>(run->bytes_resent()));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: nfs_model --url nfs://ADDRESS/EXPORT [--url ...] [--ops N]"
                 " [--seed N] [--outages SECONDS]\n");
    return 2;
  }
  signal(SIGTERM, [](int) { stop_requested = 1; });
  std::printf("nfs_model: seed %llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  return run_model(options);
}

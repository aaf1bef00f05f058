#include "tests/sim/runtime/seeds.h"

#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

namespace {

constexpr unsigned kRealSecondsMax = 120;  // of one seed; longer: it hangs outside the scheduler
constexpr int kJobsMax = 64;

struct Options {
  std::string simulation;
  std::uint64_t from = 1;
  std::uint64_t seeds = 1;
  int jobs = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  bool trace = false;
  bool verify = false;
  bool keep_going = false;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto number = [&](std::uint64_t& into) {
      if (++i >= argc) return false;
      into = std::strtoull(argv[i], nullptr, 10);
      return true;
    };
    std::uint64_t jobs = 0;
    if (word == "--from") {
      if (!number(options.from)) return false;
    } else if (word == "--seeds") {
      if (!number(options.seeds)) return false;
    } else if (word == "--jobs") {
      if (!number(jobs)) return false;
      options.jobs = std::clamp(static_cast<int>(jobs), 1, kJobsMax);
    } else if (word == "--trace") {
      options.trace = true;
    } else if (word == "--verify") {
      options.verify = true;
    } else if (word == "--keep-going") {
      options.keep_going = true;
    } else if (options.simulation.empty() && word[0] != '-') {
      options.simulation = word;
    } else {
      return false;
    }
  }
  return true;
}

// Threads that take turns are fastest on one CPU: one of those that this program may run on.
void stay_on_one_cpu(std::size_t slot) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  std::size_t left = slot % static_cast<std::size_t>(CPU_COUNT(&allowed));
  std::size_t cpu = 0;
  while (!CPU_ISSET(cpu, &allowed) || left-- > 0) ++cpu;
  CPU_ZERO(&allowed);
  CPU_SET(cpu, &allowed);
  ::sched_setaffinity(0, sizeof(allowed), &allowed);
}

struct Run {
  std::uint64_t seed = 0;
  int round = 0;  // 1: the second run of --verify
};

class Runner {
 public:
  Runner(const Options& options, const Simulation& simulation, const char* program)
      : options_(options), simulation_(simulation), program_(program) {
    void* const shared = ::mmap(nullptr, sizeof(Outcome) * static_cast<std::size_t>(options.jobs),
                                PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    outcomes_ = static_cast<Outcome*>(shared);
    running_.resize(static_cast<std::size_t>(options.jobs));
    pids_.assign(static_cast<std::size_t>(options.jobs), 0);
  }

  int run() {
    const std::uint64_t end = options_.from + options_.seeds;
    std::uint64_t next = options_.from;
    finished_to_ = options_.from;
    for (;;) {
      while (next < end && (failures_ == 0 || options_.keep_going) && start_one(next)) ++next;
      if (busy_ == 0) break;
      reap_one();
      note_progress(end);
    }
    report();
    return failures_ == 0 ? 0 : 1;
  }

 private:
  bool start_one(std::uint64_t seed) {
    const auto free = std::find(pids_.begin(), pids_.end(), 0);
    if (free == pids_.end()) return false;
    launch(static_cast<std::size_t>(free - pids_.begin()), {seed, 0});
    return true;
  }

  void launch(std::size_t slot, Run run) {
    outcomes_[slot] = Outcome{};
    running_[slot] = run;
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) child(slot, run.seed);
    pids_[slot] = pid;
    ++busy_;
  }

  [[noreturn]] void child(std::size_t slot, std::uint64_t seed) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::alarm(kRealSecondsMax);
    stay_on_one_cpu(slot);
    start(seed, options_.trace ? Trace::kOn : Trace::kOff, &outcomes_[slot]);
    simulation_.run(seed);
    finish();
  }

  void reap_one() {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, 0);
    const auto found = std::find(pids_.begin(), pids_.end(), pid);
    if (found == pids_.end()) return;
    const auto slot = static_cast<std::size_t>(found - pids_.begin());
    pids_[slot] = 0;
    --busy_;
    const Run run = running_[slot];
    const Outcome& outcome = outcomes_[slot];
    steps_ += outcome.steps;
    switches_ += outcome.switches;
    simulated_ns_ += outcome.simulated_ns;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      failed(run.seed, status, outcome.failure);
    } else if (options_.verify && run.round == 0) {
      first_hash_[run.seed] = outcome.trace_hash;
      launch(slot, {run.seed, 1});
      return;
    } else if (options_.verify && first_hash_[run.seed] != outcome.trace_hash) {
      failed(run.seed, 0, "two runs of the seed differ");
    }
    finished_.insert(run.seed);
    while (finished_.erase(finished_to_) > 0) ++finished_to_;
  }

  void failed(std::uint64_t seed, int status, const char* why) {
    ++failures_;
    std::string how = why;
    if (WIFSIGNALED(status)) {
      how += std::string(how.empty() ? "" : "; ") + "ended by signal " +
             std::to_string(WTERMSIG(status)) +
             (WTERMSIG(status) == SIGALRM ? ": it hangs in real time" : "");
    }
    std::printf("%s: seed %llu FAILED: %s\n  replay: %s %s --from %llu --trace\n",
                simulation_.name.c_str(), static_cast<unsigned long long>(seed), how.c_str(),
                program_, simulation_.name.c_str(), static_cast<unsigned long long>(seed));
    std::fflush(stdout);
  }

  void note_progress(std::uint64_t end) {
    const auto now = std::chrono::steady_clock::now();
    if (now - noted_ < std::chrono::seconds(10)) return;
    noted_ = now;
    std::printf("%s: seeds %llu to %llu are done, of up to %llu\n", simulation_.name.c_str(),
                static_cast<unsigned long long>(options_.from),
                static_cast<unsigned long long>(finished_to_ - 1),
                static_cast<unsigned long long>(end - 1));
    std::fflush(stdout);
  }

  void report() const {
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - since_);
    const std::uint64_t done = std::max<std::uint64_t>(finished_to_ - options_.from, 1);
    std::printf(
        "%s: seeds %llu to %llu: %d failed; last finished seed %llu; %.1f s, %.2f ms a seed, "
        "%llu steps, %llu switches and %.1f simulated s a seed%s\n",
        simulation_.name.c_str(), static_cast<unsigned long long>(options_.from),
        static_cast<unsigned long long>(options_.from + options_.seeds - 1), failures_,
        static_cast<unsigned long long>(finished_to_ - 1), static_cast<double>(spent.count()) / 1e3,
        static_cast<double>(spent.count()) / static_cast<double>(done),
        static_cast<unsigned long long>(steps_ / done),
        static_cast<unsigned long long>(switches_ / done),
        static_cast<double>(simulated_ns_) / 1e9 / static_cast<double>(done),
        options_.verify ? "; each ran twice, alike" : "");
  }

  const Options& options_;
  const Simulation& simulation_;
  const char* const program_;
  Outcome* outcomes_ = nullptr;
  std::vector<Run> running_;
  std::vector<pid_t> pids_;
  int busy_ = 0;
  int failures_ = 0;
  std::uint64_t finished_to_ = 0;  // all seeds below it are done
  std::set<std::uint64_t> finished_;
  std::map<std::uint64_t, std::uint64_t> first_hash_;
  std::uint64_t steps_ = 0;
  std::uint64_t switches_ = 0;
  std::int64_t simulated_ns_ = 0;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point noted_ = since_;
};

}  // namespace

void repeat_addresses(char** argv) {
  const int now = ::personality(0xffffffff);
  if (now != -1 && (now & ADDR_NO_RANDOMIZE) == 0 &&
      ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) != -1) {
    ::execv("/proc/self/exe", argv);
  }
  ::mallopt(M_ARENA_MAX, 1);
}

int run_command_line(int argc, char** argv, const std::vector<Simulation>& simulations,
                     const std::function<void()>& prepare) {
  Options options;
  const bool understood = parse(argc, argv, options);
  const auto found =
      std::find_if(simulations.begin(), simulations.end(),
                   [&](const Simulation& one) { return one.name == options.simulation; });
  if (!understood || found == simulations.end()) {
    std::fprintf(stderr,
                 "usage: %s SIMULATION [--from N] [--seeds N] [--jobs N] [--trace] "
                 "[--verify] [--keep-going]\nsimulations:",
                 argv[0]);
    for (const Simulation& one : simulations) std::fprintf(stderr, " %s", one.name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  prepare();
  return Runner(options, *found, argv[0]).run();
}

}  // namespace symnas::sim

// Mounts do a few operations each on one file, at the same time. Whenever no thread can run, one of
// the messages under way arrives: the oldest, unless the order holds it back. A message that is
// held back arrives when nothing else is under way, the oldest first. An order is the set of
// decisions at which a message is held back. All sets of up to --holds of them are run, each from
// the beginning in an OS process of its own. Messages are requests to etcd and their answers, watch
// events, and LUN I/O.
//
// In each order: after any message there is never a token beside an exclusive one; every operation
// succeeds; some thread can always go on; the answers about every sector can have happened
// (registers.h); at the end the product's checker finds nothing.
//
// Not varied: the order of threads within a mount between two messages (one per --seed), time-outs,
// faults, the end of a mount.
#include "tests/sim/exhaustive.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/sim/data_calls.h"
#include "tests/sim/runtime/seeds.h"
#include "tests/sim/search_world.h"

namespace symnas::sim {

namespace {

constexpr std::size_t kDecisionsMax = 2048;
constexpr unsigned kRealSecondsMax = 60;               // of one order
constexpr std::int64_t kMessageNsMax = 1'000'000;      // anything that takes longer is a timer
constexpr std::int64_t kPatienceNs = 120'000'000'000;  // simulated, without any message
constexpr std::uint64_t kTop = Registers::kSectors;    // the first sector behind the old end

// --- scenarios

enum class Do { kWrite, kWriteStable, kRead, kCut, kCommit, kAttributes };
struct Step {
  Do what;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
struct Scenario {
  const char* name;
  std::vector<std::vector<Step>> actors;  // each on a mount of its own
};

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      {"in-place",
       {{{Do::kWrite, 0, 8}, {Do::kRead, 0, 8}}, {{Do::kWrite, 0, 8}, {Do::kRead, 0, 8}}}},
      {"grow",
       {{{Do::kWrite, kTop, 3}, {Do::kRead, kTop, 4}},
        {{Do::kWriteStable, kTop + 1, 4}, {Do::kRead, kTop, 4}}}},
      {"cut",
       {{{Do::kWrite, kTop, 20}, {Do::kCut, kTop + 2, 0}},
        {{Do::kWrite, kTop + 20, 8}, {Do::kRead, kTop, 28}}}},
      {"read-beside",
       {{{Do::kWrite, kTop, 3}, {Do::kCommit}, {Do::kWrite, kTop, 1}},
        {{Do::kRead, kTop - 1, 4}, {Do::kAttributes}, {Do::kRead, kTop - 1, 4}}}},
      {"three",
       {{{Do::kWriteStable, kTop, 2}}, {{Do::kWrite, 0, 8}}, {{Do::kRead, 0, Registers::kAll}}}},
  };
  return all;
}

// --- one order, in a process of its own

using Order = std::vector<std::uint32_t>;  // decisions at which a message is held back, ascending

struct Report {  // in memory shared with the parent
  Outcome outcome;
  std::uint32_t decisions = 0;
  std::uint8_t may_hold[kDecisionsMax] = {};  // holding the message back would make a difference
  std::uint64_t states[kDecisionsMax] = {};
};

class OrderRun {
 public:
  OrderRun(const Scenario& scenario, const Order& order, Report& report)
      : scenario_(scenario), order_(order), report_(report), world_(scenario.actors.size()) {}

  void run() {
    sleep_ns(10'000'000);  // work left by the opening
    take_over_post([this](std::int64_t delay_ns, std::function<void()> arrival) {
      if (delay_ns > kMessageNsMax || over_) {
        at(delay_ns, std::move(arrival));
      } else {
        mail_.push_back({std::move(arrival), false});
      }
    });
    for (std::size_t actor = 0; actor < scenario_.actors.size(); ++actor) {
      ++running_;
      spawn(*world_[actor].process, "actor", [this, actor] {
        for (const Step& step : scenario_.actors[actor]) {
          one(actor, step);
          ++done_steps_;
        }
        --running_;
      });
    }
    search();
    finish_run();
  }

 private:
  struct Message {
    std::function<void()> arrival;
    bool held = false;
  };

  void search() {
    std::int64_t waited_ns = 0;
    for (until_quiet(); running_ > 0; until_quiet()) {
      if (mail_.empty()) {
        if (waited_ns > kPatienceNs) fail("nobody can go on");
        sleep_ns(kMessageNsMax);
        waited_ns += kMessageNsMax;
        continue;
      }
      waited_ns = 0;
      decide();
    }
    over_ = true;
    while (!mail_.empty()) deliver(mail_.begin());
  }

  void decide() {
    const auto free = [](const Message& message) { return !message.held; };
    const auto oldest = std::find_if(mail_.begin(), mail_.end(), free);
    if (oldest == mail_.end()) {
      deliver(mail_.begin());
      return;
    }
    const std::uint32_t number = report_.decisions++;
    if (number >= kDecisionsMax) fail("too many messages");
    report_.may_hold[number] = std::count_if(mail_.begin(), mail_.end(), free) > 1 ? 1 : 0;
    report_.states[number] = world_.hash() * 31 + done_steps_ * 1024 + mail_.size();
    if (std::binary_search(order_.begin(), order_.end(), number)) {
      trace("decision %u: held back", number);
      oldest->held = true;
      return;
    }
    trace("decision %u: the oldest of %zu", number, mail_.size());
    deliver(oldest);
  }

  void deliver(std::deque<Message>::iterator message) {
    at(0, std::move(message->arrival));
    mail_.erase(message);
    sleep_ns(1);
    until_quiet();
    const std::string wrong = world_.check_tokens();
    if (!wrong.empty()) fail(wrong);
  }

  // --- what the actors do
  static void must(bool good, const char* what, const Error* error) {
    if (!good) fail(std::string(what) + ": " + error->message);
  }
  template <class T>
  static void must(const Result<T>& result, const char* what) {
    must(result.has_value(), what, result ? nullptr : &result.error());
  }

  void one(std::size_t actor, const Step& step) {
    SearchMount& mount = world_[actor];
    const fs::Handle handle = world_.handle();
    const Through through{actor, 1};
    trace("does %d at %llu", static_cast<int>(step.what),
          static_cast<unsigned long long>(step.first));
    switch (step.what) {
      case Do::kWrite:
      case Do::kWriteStable: {
        const bool stable = step.what == Do::kWriteStable;
        const auto change = registers_.begin_write(step.first, step.count, through);
        std::string bytes;
        for (const std::uint64_t value : change.values) bytes += Registers::sector(value);
        Waiting<fs::WriteResult> waiting;
        mount.data->write(handle, FileOffset{step.first * Registers::kSectorBytes},
                          std::as_bytes(std::span(bytes)),
                          stable ? fs::WriteStability::kFileSync : fs::WriteStability::kUnstable,
                          waiting.callback());
        must(waiting.get(), "write");
        registers_.ended(change,
                         stable ? Registers::Outcome::kStable : Registers::Outcome::kUnstable);
        break;
      }
      case Do::kRead: read(mount, step); break;
      case Do::kCut: {
        const auto change = registers_.begin_resize(step.first);
        must(mount.data->set_size(handle, step.first * Registers::kSectorBytes,
                                  fs::MtimeIs::kOfTheChange, nullptr),
             "size");
        registers_.ended(change, Registers::Outcome::kStable);
        break;
      }
      case Do::kCommit: {
        Waiting<void> waiting;
        mount.data->commit(handle, waiting.callback());
        must(waiting.get(), "commit");
        break;
      }
      case Do::kAttributes:
        must(mount.session->barrier(), "barrier");
        must(mount.data->publish_foreign(SearchWorld::kFile), "publish");
        break;
    }
  }

  void read(SearchMount& mount, const Step& step) {
    const std::int64_t start = registers_.moment();
    const auto got = read_bytes(*mount.data, world_.handle(), step.first * Registers::kSectorBytes,
                                step.count * Registers::kSectorBytes);
    must(got, "read");
    const std::string wrong = registers_.saw(step.first, step.count, got->bytes, start,
                                             [](const Through&) { return true; });
    if (!wrong.empty()) fail(wrong);
  }

  void finish_run() {
    for (std::size_t i = 0; i < world_.size(); ++i) {
      world_.call(i, [this](SearchMount& mount) { read(mount, {Do::kRead, 0, Registers::kAll}); });
    }
    for (std::size_t i = 0; i < world_.size(); ++i) {
      world_.call(i, [](SearchMount& mount) { must(mount.data->flush_all(), "flush"); });
    }
    for (const std::string& wrong :
         {registers_.check(), world_.check_tokens(), world_.check_records()}) {
      if (!wrong.empty()) fail(wrong);
    }
  }

  const Scenario& scenario_;
  const Order& order_;
  Report& report_;
  SearchWorld world_;
  Registers registers_;
  std::deque<Message> mail_;
  bool over_ = false;
  int running_ = 0;
  std::uint64_t done_steps_ = 0;
};

// --- all orders of a scenario

struct Options {
  std::string scenario;
  std::size_t holds = 2;
  std::optional<Order> order;
  std::uint64_t seed = 1;
  std::size_t jobs = static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  bool trace = false;
};

std::string text(const Order& order) {
  std::string out;
  for (const std::uint32_t one : order) out += (out.empty() ? "" : ",") + std::to_string(one);
  return out.empty() ? "none" : out;
}

class Search {
 public:
  Search(const Options& options, const Scenario& scenario)
      : options_(options), scenario_(scenario), slots_(options.jobs) {
    void* const shared = ::mmap(nullptr, sizeof(Report) * options.jobs, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    reports_ = static_cast<Report*>(shared);
  }
  ~Search() { ::munmap(reports_, sizeof(Report) * options_.jobs); }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  bool run() {
    todo_.push_back(options_.order.value_or(Order{}));
    while (busy_ > 0 || (good_ && !todo_.empty())) {
      if (!(good_ && !todo_.empty() && launch())) reap();
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - since_;
    std::printf(
        "exhaustive: %s: %zu mounts, %zu operations: %zu orders (all with up to %zu messages held "
        "back), up to %u decisions each, %zu states: %s; %.1f s\n",
        scenario_.name, scenario_.actors.size(), operations(), orders_, options_.holds, decisions_,
        states_.size(), good_ ? "all good" : "FAILED", spent.count());
    std::fflush(stdout);
    return good_;
  }
  std::size_t orders() const { return orders_; }
  std::size_t states() const { return states_.size(); }

 private:
  struct Slot {
    pid_t pid = 0;
    Order order;
  };

  std::size_t operations() const {
    std::size_t sum = 0;
    for (const auto& actor : scenario_.actors) sum += actor.size();
    return sum;
  }

  bool launch() {
    const auto slot =
        std::find_if(slots_.begin(), slots_.end(), [](const Slot& one) { return one.pid == 0; });
    if (slot == slots_.end()) return false;
    slot->order = std::move(todo_.front());
    todo_.pop_front();
    Report& report = reports_[slot - slots_.begin()];
    report.outcome = Outcome{};
    report.decisions = 0;
    std::fflush(nullptr);
    slot->pid = ::fork();
    if (slot->pid == 0) child(slot->order, report, static_cast<int>(slot - slots_.begin()));
    ++busy_;
    return true;
  }

  [[noreturn]] void child(const Order& order, Report& report, int cpu) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::alarm(kRealSecondsMax);
    cpu_set_t cpus;  // threads that take turns are fastest on one CPU
    CPU_ZERO(&cpus);
    CPU_SET(cpu % static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)), &cpus);
    ::sched_setaffinity(0, sizeof(cpus), &cpus);
    start(options_.seed, options_.trace ? Trace::kOn : Trace::kOff, &report.outcome);
    orderly();
    (new OrderRun(scenario_, order, report))->run();
    finish();
  }

  void reap() {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, 0);
    const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                   [pid](const Slot& one) { return one.pid == pid; });
    if (slot == slots_.end()) return;
    slot->pid = 0;
    --busy_;
    ++orders_;
    const Report& report = reports_[slot - slots_.begin()];
    decisions_ = std::max(decisions_, report.decisions);
    states_.insert(report.states,
                   report.states + std::min<std::size_t>(report.decisions, kDecisionsMax));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      failed(slot->order, status, report.outcome.failure);
      return;
    }
    if (options_.order || slot->order.size() >= options_.holds) return;
    const std::uint32_t from = slot->order.empty() ? 0 : slot->order.back() + 1;
    for (std::uint32_t next = from; next < report.decisions; ++next) {
      if (report.may_hold[next] == 0) continue;
      Order longer = slot->order;
      longer.push_back(next);
      todo_.push_back(std::move(longer));
    }
  }

  void failed(const Order& order, int status, std::string why) {
    if (WIFSIGNALED(status)) {
      why += std::string(why.empty() ? "" : "; ") + "ended by signal " +
             std::to_string(WTERMSIG(status)) +
             (WTERMSIG(status) == SIGALRM ? ": it hangs in real time" : "");
    }
    if (good_) {
      std::printf("exhaustive: %s, held back at %s FAILED: %s\n", scenario_.name,
                  text(order).c_str(), why.c_str());
      std::printf("  replay: symnas_sim exhaustive --scenario %s --order %s --trace\n",
                  scenario_.name, text(order).c_str());
      std::fflush(stdout);
    }
    good_ = false;
  }

  const Options& options_;
  const Scenario& scenario_;
  Report* reports_ = nullptr;
  std::vector<Slot> slots_;
  std::deque<Order> todo_;
  std::unordered_set<std::uint64_t> states_;
  std::size_t busy_ = 0;
  std::size_t orders_ = 0;
  std::uint32_t decisions_ = 0;
  bool good_ = true;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--trace") {
      options.trace = true;
      continue;
    }
    if (++i >= argc) return false;
    if (word == "--scenario") {
      options.scenario = argv[i];
    } else if (word == "--holds") {
      options.holds = std::strtoull(argv[i], nullptr, 10);
    } else if (word == "--seed") {
      options.seed = std::strtoull(argv[i], nullptr, 10);
    } else if (word == "--jobs") {
      options.jobs = std::clamp<std::size_t>(std::strtoull(argv[i], nullptr, 10), 1, 64);
    } else if (word == "--order") {
      options.order.emplace();
      std::istringstream in(argv[i]);
      for (std::string one; std::getline(in, one, ',') && one != "none";) {
        options.order->push_back(static_cast<std::uint32_t>(std::stoul(one)));
      }
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int run_exhaustive(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: %s exhaustive [--scenario NAME] [--holds N] [--order N,N,...] [--seed N] "
                 "[--jobs N] [--trace]\nscenarios:",
                 argv[0]);
    for (const Scenario& one : scenarios()) std::fprintf(stderr, " %s", one.name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  std::size_t searched = 0;
  std::size_t orders = 0;
  std::size_t states = 0;
  bool good = true;
  for (const Scenario& scenario : scenarios()) {
    if (!good || (!options.scenario.empty() && options.scenario != scenario.name)) continue;
    Search search(options, scenario);
    good = search.run();
    ++searched;
    orders += search.orders();
    states += search.states();
  }
  std::printf("exhaustive: %zu scenarios, %zu orders, %zu states: %s\n", searched, orders, states,
              good ? "all good" : "failed");
  return good && searched > 0 ? 0 : 1;
}

}  // namespace symnas::sim

#include "tests/sim/runtime/simulation.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tests/sim/runtime/scheduler.h"

namespace symnas::sim {

namespace {

constexpr std::size_t kTraceLine = 400;

class SeedRandom final : public env::Random {
 public:
  std::uint64_t next() override { return draw(); }
};

void* run_body(void* argument) {
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
  (*body)();
  return nullptr;
}

void write_all(const char* text, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t wrote = ::write(STDERR_FILENO, text, bytes);
    if (wrote <= 0) return;
    text += wrote;
    bytes -= static_cast<std::size_t>(wrote);
  }
}

}  // namespace

// --- clocks

std::int64_t Process::mono_ns() const {
  return mono_base_ns_ +
         static_cast<std::int64_t>(static_cast<__int128>(scheduler.now_ns) * rate_ppm_ / 1'000'000);
}
std::int64_t Process::wall_ns() const { return mono_ns() + wall_base_ns_; }
std::int64_t Process::world_ns_of(std::int64_t mono_ns) const {
  if (mono_ns > INT64_MAX / 4) return INT64_MAX;
  return static_cast<std::int64_t>(static_cast<__int128>(mono_ns - mono_base_ns_) * 1'000'000 /
                                   rate_ppm_) +
         1;
}

// --- the run

void start(std::uint64_t seed, Trace trace, Outcome* outcome) {
  scheduler.seed = seed;
  scheduler.tracing = trace == Trace::kOn;
  scheduler.outcome = outcome;
  scheduler.random_state = seed * 0xD1342543DE82EF95ULL + 0x632BE59BD9B4E019ULL;
  scheduler.threads.reserve(64);
  scheduler.choose_tuning();
  Process& world = new_process("world");
  Thread& first = scheduler.add_first();
  first.number = 1;
  first.name = "main";
  first.process = &world;
  first.carrier = pthread_self();
  first.state = Thread::State::kRunnable;
  self = &first;
}

void finish() {
  scheduler.outcome->simulated_ns = scheduler.now_ns;
  ::_exit(0);
}

void fail(std::string_view why) {
  Outcome& outcome = *scheduler.outcome;
  outcome.simulated_ns = scheduler.now_ns;
  const std::size_t bytes = std::min(why.size(), sizeof(outcome.failure) - 1);
  std::memcpy(outcome.failure, why.data(), bytes);
  outcome.failure[bytes] = '\0';
  ::_exit(1);
}

// --- randomness (splitmix64)

std::uint64_t draw() {
  std::uint64_t z = scheduler.random_state += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}
std::uint64_t below(std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(draw()) * bound) >> 64);
}
bool chance(std::uint64_t per_million) { return below(1'000'000) < per_million; }
env::Random& random() {
  static SeedRandom out;
  return out;
}

// --- time

std::int64_t now_ns() { return scheduler.now_ns; }

void at(std::int64_t delay_ns, std::function<void()> event) {
  auto& events = scheduler.events;
  events.push_back(
      {scheduler.now_ns + std::max<std::int64_t>(delay_ns, 0), draw(), std::move(event)});
  std::push_heap(events.begin(), events.end(), [](const auto& a, const auto& b) {
    return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.tie > b.tie;
  });
}

void sleep_ns(std::int64_t span_ns) {
  const std::int64_t until = scheduler.now_ns + span_ns;
  while (scheduler.now_ns < until) scheduler.block(nullptr, "sleep", until);
}

// --- processes and threads

Process& new_process(std::string name) {
  auto process = std::make_unique<Process>();
  process->name_ = std::move(name);
  process->rate_ppm_ = 900'000 + static_cast<std::int64_t>(below(200'001));
  process->mono_base_ns_ = 1'000'000'000 + static_cast<std::int64_t>(below(1'000'000'000));
  // All times of a run are in one range, whatever the date.
  process->wall_base_ns_ =
      1'700'000'000'000'000'000 + static_cast<std::int64_t>(below(10'000'000'000));
  scheduler.processes.push_back(std::move(process));
  return *scheduler.processes.back();
}

Process& current_process() { return *self->process; }

void spawn(Process& process, const char* name, std::function<void()> body) {
  Thread& thread =
      scheduler.create(process, name, run_body, new std::function<void()>(std::move(body)));
  thread.detached = true;
}

void kill(Process& process) {
  trace("kill %s", process.name_.c_str());
  process.alive_ = false;
  scheduler.forget(process);
  scheduler.wake_all(&process);
  if (self->process == &process && scheduler.no_switch == 0) scheduler.yield();
}

void pause(Process& process, std::int64_t span_ns) {
  trace("pause %s for %lld us", process.name_.c_str(), static_cast<long long>(span_ns / 1000));
  process.paused_until_ns_ = scheduler.now_ns + span_ns;
}

void preemption_point() { scheduler.point(); }
void wait_on(const void* address, const char* why) { scheduler.block(address, why, INT64_MAX); }
void wake(const void* address) { scheduler.wake_all(address); }

NoSwitch::NoSwitch() { ++scheduler.no_switch; }
NoSwitch::~NoSwitch() { --scheduler.no_switch; }

void calm() {
  scheduler.tuning.stall_ppm = 0;
  scheduler.tuning.event_ppm = 0;
  for (const auto& thread : scheduler.threads) thread->stalled_until_ns = 0;
}

void orderly() {
  scheduler.tuning = {};
  scheduler.tuning.step_ns = 100;
}

void until_quiet() {
  const auto somebody_can_run = [] {
    const auto& events = scheduler.events;
    if (!events.empty() && events.front().at_ns <= scheduler.now_ns) return true;
    for (const auto& thread : scheduler.threads) {
      if (thread.get() == self || !thread->process->alive()) continue;
      if (thread->state == Thread::State::kRunnable) return true;
      if (thread->state == Thread::State::kBlocked && thread->deadline_ns <= scheduler.now_ns) {
        return true;
      }
    }
    return false;
  };
  while (somebody_can_run()) scheduler.yield();
}

namespace {
PostOffice post_office;
}  // namespace

void post(std::int64_t delay_ns, std::function<void()> arrival) {
  if (post_office) {
    post_office(delay_ns, std::move(arrival));
  } else {
    at(delay_ns, std::move(arrival));
  }
}
void take_over_post(PostOffice office) { post_office = std::move(office); }

void trace(const char* format, ...) {
  char line[kTraceLine];
  const auto prefix = static_cast<std::size_t>(
      std::snprintf(line, sizeof(line), "%12lld.%03lld us %s/%s ",
                    static_cast<long long>(scheduler.now_ns / 1000),
                    static_cast<long long>(scheduler.now_ns % 1000),
                    scheduler.in_event ? "-" : self->process->name().c_str(),
                    scheduler.in_event ? "event" : self->name));
  va_list arguments;
  va_start(arguments, format);
  const int rest = std::vsnprintf(line + prefix, sizeof(line) - prefix - 1, format, arguments);
  va_end(arguments);
  std::size_t bytes =
      std::min(prefix + static_cast<std::size_t>(std::max(rest, 0)), kTraceLine - 2);
  for (std::size_t i = 0; i < bytes; ++i) {
    scheduler.hash(static_cast<unsigned char>(line[i]));
  }
  if (!scheduler.tracing) return;
  line[bytes++] = '\n';
  write_all(line, bytes);
}

}  // namespace symnas::sim

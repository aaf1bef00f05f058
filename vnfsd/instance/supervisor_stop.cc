// Supervisor: how an instance that is to be moved or stopped ends, and its VNFS is given up.
#include <future>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/instance/crash_point.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/retire.h"
#include "vnfsd/instance/supervisor.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::instance {
namespace {

// Between tries to give ownership up, and looks whether an instance can be restarted.
constexpr std::int64_t kReleasePauseMs = 1000;

}  // namespace

// The instance's clients get every answer to the requests that it has begun, and nothing that would
// make them give up.
void Supervisor::retire_instance() {
  progress_.serving = false;
  state_.retiring = true;
  // Before it is told: the next vnfsd must not take it for one that serves.
  const Status noted = write_file_atomically(paths_.state_file, render_state(state_), 0600);
  if (!noted) log::error("vnfs {}: {}", vnfs_, noted.error().message);
  records::Departure& departure = farewell_.departure;
  const std::int64_t began_ns = clock_.wall_ns();
  const auto note = [&](std::string_view name, std::int64_t ms) {
    add_step(*departure.mutable_steps(), name, began_ns + ms * 1'000'000);
  };
  note(step::kRetiring, 0);
  std::int64_t finished_ms = 0;
  crash_point("retiring", vnfs_);
  std::promise<std::optional<Drained>> said;
  auto closing = std::async(std::launch::async, [&] {
    bool drained = false;
    auto closed = retire(paths_.control, kRetireTimeoutMs, [&](const Drained& what) {
      drained = true;
      said.set_value(what);
    });
    if (!drained) said.set_value(std::nullopt);
    return closed;
  });
  auto saying = said.get_future();
  attend_pulse_until(saying);
  if (const auto drained = saying.get()) {
    finished_ms = drained->requests_ms;
    note(step::kFinished, finished_ms);
    note(step::kAcknowledged, finished_ms + drained->replies_ms);
    departure.set_kept(drained->kept);
    departure.set_error(drained->unsent);
    farewell_.connections = drained->connections;
    crash_point("drained", vnfs_);
    silence_instance();
    crash_point("silenced", vnfs_);
  }
  const auto closed = closing.get();
  if (closed) return note(step::kClosed, finished_ms + *closed);
  log::warn("vnfs {}: killed without its farewell: {}", vnfs_, closed.error().message);
  departure.set_error(closed.error().message);
}

// The packets that the kernel sends for a dead process would tell its clients to give up.
void Supervisor::silence_instance() {
  if (farewell_.connections.empty()) {  // it could not say
    add_missing(unheard_.left, connections_in(netns_.get()));
    for (const Connection& connection : std::exchange(unheard_.left, {}))
      farewell_.connections.push_back(connection.to_string());
  }
  progress_.silenced = true;
  state_.connections = farewell_.connections;
  const Status noted = write_file_atomically(paths_.state_file, render_state(state_), 0600);
  if (!noted) log::error("vnfs {}: {}", vnfs_, noted.error().message);
  const Status removed = remove_vips(netns_.get());
  vips_.up = !removed;
  if (!removed) log::warn("vnfs {}: {}", vnfs_, removed.error().message);
  add_step(*farewell_.departure.mutable_steps(), step::kSilenced, clock_.wall_ns());
}

bool Supervisor::kill_and_reap() {
  if (!progress_.silenced) silence_instance();
  process_->kill();
  if (process_->wait(kKillTimeoutMs)) {
    add_step(*farewell_.departure.mutable_steps(), step::kReaped, clock_.wall_ns());
    return true;
  }
  show("stopping", fmt::format("pid {} survives SIGKILL (hung I/O?)", process_->id().pid));
  return false;
}

// Whether the instance is to be restarted, and its successor could be started as far as is known:
// until then it goes on.
bool Supervisor::may_restart() {
  const bool is_told = progress_.serving && requests_.is_restarted(state_.epoch);
  // While its VIPs are down the store is away.
  if (!is_told || pulse_.watch.hidden() || now_ms() < progress_.restart_look_ms) return false;
  const auto plan = read_plan();
  if (plan) return true;
  progress_.restart_look_ms = now_ms() + kReleasePauseMs;
  show("serving", fmt::format("it is not restarted yet: {}", plan.error().message));
  return false;
}

// The next instance of the VNFS is this head's, too: its clients are woken by it, and its history
// says what it came after.
void Supervisor::follow_up() {
  arrival_.last = farewell_.departure;
  arrival_.last.set_cause(records::DEPARTURE_STOPPED);
  add_missing(unheard_.left, connections_from(farewell_.connections));
  add_missing(unheard_.left, take_unheard());
  farewell_ = {};
}

void Supervisor::stop() {
  if (process_) {
    show("stopping", "");
    if (farewell_.departure.epoch() == 0) {
      farewell_ = {};
      progress_.silenced = false;
      farewell_.departure.set_epoch(state_.epoch.value());
    }
    const bool serves = (progress_.serving || progress_.adopted) && !pulse_.watch.ending();
    if (serves && !state_.retiring) retire_instance();
    crash_point("retired", vnfs_);
    if (!kill_and_reap()) return;
    crash_point("reaped", vnfs_);
    log::info("vnfs {}: stopped: pid {}, epoch {}", vnfs_, process_->id().pid,
              state_.epoch.value());
    lose_process();
    if (requests_.wanted() == Wanted::kStarted) follow_up();
    progress_.adopted = false;
    state_.retiring = false;
    progress_.fenced = false;
    progress_.released = false;
    policy_.reset();
    pause_ms_ = 0;
    vips_.held.clear();
    requests_.show([](InstanceSnapshot& shown) {
      shown.vips_taken.clear();
      shown.last_exit = "stopped";
    });
    return;  // next: the fence
  }
  if (!progress_.released) {
    if (farewell_.connections.empty()) farewell_.connections = state_.connections;
    std::vector<Connection> left = connections_from(farewell_.connections);
    add_missing(left, std::exchange(unheard_.left, {}));
    farewell_.connections.clear();
    for (const Connection& one : left) farewell_.connections.push_back(one.to_string());
    // Of one that has ended by itself the record says more than is known here: it stays.
    const bool has_farewell = farewell_.departure.epoch() != 0 || !farewell_.connections.empty();
    for (const Connection& one : take_unheard()) {
      if (has_farewell) farewell_.unheard.push_back(one.to_string());
    }
    crash_point("fenced", vnfs_);
    // The instance's end came before anybody took its VIPs away: they go with its links.
    if (vips_.up && burial_.valid()) burial_.get();
    const Status released = host_.release(vnfs_, farewell_);
    crash_point("released", vnfs_);
    progress_.released = released.has_value();
    if (!progress_.released) {
      show("stopping", released.error().message);
      requests_.sleep(kReleasePauseMs);
      return;
    }
  }
  show("stopped", "");
  requests_.sleep(-1);
}

}  // namespace symnas::vnfsd::instance

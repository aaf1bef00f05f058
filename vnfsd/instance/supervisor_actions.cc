// Supervisor: the actions that take no time.
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "vnfsd/instance/crash_point.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/keytab_writer.h"
#include "vnfsd/instance/launcher.h"
#include "vnfsd/instance/retire.h"
#include "vnfsd/instance/supervisor.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr const char* kNoProof =
    "its VIPs are down: it cannot prove that it may still answer, because etcd does not (symnas "
    "status shows its members; it goes on by itself)";

}  // namespace

// From here on it may open LUNs: it is an instance like any other.
std::optional<Event> Supervisor::call() {
  crash_point("claimed", vnfs_);
  partings_.arrives(step::kClaimed);
  vips_.ask(plan_, 0);  // it was asked before
  Status called = live_.becomes_owner(plan_);
  if (called) called = write_keytab(plan_);
  if (called) called = write_instance_file(plan_);
  crash_point("recorded", vnfs_);
  if (called) called = serve(paths_.control);
  crash_point("called", vnfs_);
  if (!called) return unfit(called.error());
  return std::nullopt;
}

std::optional<Event> Supervisor::show_vips() {
  partings_.take_left();
  if (const Status up = vips_.show(); !up) {
    log::error("vnfs {}: {}", vnfs_, up.error().message);
    return Event::kUnproved;
  }
  log::info("vnfs {}: its VIPs are back: it can prove again that it may answer", vnfs_);
  if (life_.phase() == Phase::kServing) show_serving();
  return std::nullopt;
}

// Clients that are connected now hear nothing of the instance's end, should it not come back.
void Supervisor::hide_vips() {
  if (vips_.up()) {
    if (!partings_.anybody_left()) partings_.left(connections_in(live_.netns()));
    if (const Status removed = vips_.hide(); !removed)
      log::error("vnfs {}: {}", vnfs_, removed.error().message);
  }
  if (life_.phase() == Phase::kHidden) say(kNoProof);
}

// The packets that the kernel sends for a dead process would tell its clients to give up.
void Supervisor::silence() {
  if (std::exchange(course_.silenced, true)) return;
  say("");
  partings_.begin_farewell(live_.epoch());
  Farewell& farewell = partings_.farewell();
  if (farewell.connections.empty()) {  // it could not say
    partings_.left(connections_in(live_.netns()));
    for (const Connection& connection : partings_.take_left())
      farewell.connections.push_back(connection.to_string());
  }
  live_.note_connections(farewell.connections);
  if (const Status removed = vips_.hide(); !removed)
    log::warn("vnfs {}: {}", vnfs_, removed.error().message);
  partings_.departs(step::kSilenced);
  crash_point("silenced", vnfs_);
}

void Supervisor::kill() {
  if (!course_.killed && !course_.unfit.empty())
    log::warn("vnfs {}: instance {}: killed: {}", vnfs_, live_.name(), course_.unfit);
  if (std::exchange(course_.killed, true))
    say(fmt::format("pid {} survives SIGKILL (hung I/O?)", live_.pid()));
  if (life_.phase() == Phase::kReaping) crash_point("retired", vnfs_);
  live_.process().kill();
}

void Supervisor::bury() {
  log::warn("vnfs {}: instance {}: ended: {}", vnfs_, live_.name(), course_.end);
  host_.ended(vnfs_, live_.epoch(), course_.end);
  partings_.crashed(live_.epoch(), course_.end);
  // The problem that the instance reported itself is the cause of what was seen from outside.
  const std::string said = course_.unfit.empty() ? "" : lines_of(paths_.problems_file);
  say(said.empty() ? course_.unfit : said);
  requests_.show([&](InstanceSnapshot& shown) {
    shown.last_exit = course_.end;
    ++shown.restarts;
  });
  vips_.lost();
  live_.lose();
  remove_keytab(paths_);
}

void Supervisor::depart() {
  partings_.begin_farewell(live_.epoch());
  partings_.departs(step::kReaped);
  crash_point("reaped", vnfs_);
  log::info("vnfs {}: stopped: {}", vnfs_, live_.name());
  vips_.lost();
  live_.lose();
  remove_keytab(paths_);
  if (requests_.wanted() == Wanted::kStarted) partings_.follow_up();
  vips_.forget_holders();
  requests_.show([](InstanceSnapshot& shown) { shown.last_exit = "stopped"; });
}

// Needs no fence: a standby has nothing that could reach a LUN or a client.
void Supervisor::drop_standby() {
  log::info("vnfs {}: its standby has ended: {} ({}; its log is {})", vnfs_, live_.name(),
            course_.end, paths_.log);
  vips_.lost();
  live_.lose();
  remove_keytab(paths_);
  partings_.new_arrival();
}

}  // namespace symnas::vnfsd::instance

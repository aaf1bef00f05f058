#include "vnfsd/instance/partings.h"

#include <utility>

#include "vnfsd/instance/limits.h"
#include "vnfsd/records/history.h"

namespace symnas::vnfsd::instance {

void Partings::launched(Epoch epoch) {
  arrival_.epoch = epoch;
  farewell_ = {};
}

void Partings::arrives(std::string_view step) { add_step(arrival_.steps, step, clock_.wall_ns()); }

void Partings::begin_farewell(Epoch epoch) {
  if (farewell_.departure.epoch() != 0) return;
  farewell_ = {};
  farewell_.departure.set_epoch(epoch.value());
}

void Partings::departs(std::string_view step, std::int64_t at_ns) {
  add_step(*farewell_.departure.mutable_steps(), step, at_ns != 0 ? at_ns : clock_.wall_ns());
}

void Partings::follow_up() {
  arrival_.last = farewell_.departure;
  arrival_.last.set_cause(records::DEPARTURE_STOPPED);
  add_missing(left_, connections_from(farewell_.connections));
  add_missing(left_, take_unheard());
  farewell_ = {};
}

Farewell Partings::final_words(const std::vector<std::string>& known) {
  if (farewell_.connections.empty()) farewell_.connections = known;
  std::vector<Connection> all = connections_from(farewell_.connections);
  add_missing(all, take_left());
  farewell_.connections.clear();
  for (const Connection& one : all) farewell_.connections.push_back(one.to_string());
  // Of one that has ended by itself the record says more than is known here: it stays.
  const bool has_farewell = farewell_.departure.epoch() != 0 || !farewell_.connections.empty();
  for (const Connection& one : take_unheard()) {
    if (has_farewell) farewell_.unheard.push_back(one.to_string());
  }
  return farewell_;
}

void Partings::crashed(Epoch epoch, const std::string& how) {
  if (arrival_.last.epoch() != 0) return;  // its clients have been waiting since an earlier end
  arrival_.last.set_epoch(epoch.value());
  arrival_.last.set_cause(records::DEPARTURE_ENDED);
  arrival_.last.set_error(how);
  add_step(*arrival_.last.mutable_steps(), step::kEnded, clock_.wall_ns());
}

void Partings::proved() {
  records::Departure& departure =
      farewell_.departure.epoch() != 0 ? farewell_.departure : arrival_.last;
  if (departure.epoch() != 0) add_step(*departure.mutable_steps(), step::kProved, clock_.wall_ns());
}

void Partings::left(const std::vector<Connection>& connections) { add_missing(left_, connections); }

void Partings::woken(std::vector<Connection> connections) {
  to_wake_ = std::move(connections);
  // Lives of less than a second could leave more than a record takes; the oldest are the last.
  if (std::ssize(to_wake_) > kUnheardMax)
    to_wake_.erase(to_wake_.begin() + kUnheardMax, to_wake_.end());
  wake_at_ms_ = clock_.mono_ns() / 1'000'000 + kWakeAgainMs;
  shown_.show([&](InstanceSnapshot& shown) {
    shown.unheard.clear();
    for (Connection& connection : to_wake_) {
      connection.sequence.reset();  // whoever has ignored a reset ignores its repetition, too
      shown.unheard.push_back(connection.to_string());
    }
  });
}

bool Partings::waking_is_due() const {
  return !to_wake_.empty() && clock_.mono_ns() / 1'000'000 >= wake_at_ms_;
}

std::vector<Connection> Partings::take_unheard() {
  shown_.show([](InstanceSnapshot& shown) { shown.unheard.clear(); });
  return std::exchange(to_wake_, {});
}

}  // namespace symnas::vnfsd::instance

// The promises that the session simulation has got, and the mounts that made them. Value types, for
// one simulation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/kv/session.h"
#include "tests/sim/runtime/simulation.h"
#include "tests/sim/sim_store.h"

namespace symnas::sim {

struct Promises {
  std::map<std::string, std::int64_t> counted;    // acknowledged increments
  std::map<std::string, std::int64_t> uncertain;  // under way when their process ended
  std::set<std::string> logged;                   // tokens acknowledged in the log
  std::set<std::string> maybe_logged;
  std::set<std::string> never_logged;
  std::map<std::string, Revision> put_once;  // unique keys acknowledged
  std::set<std::string> maybe_put;
  std::set<std::string> never_put;                           // unique keys refused
  std::map<std::string, std::set<std::int64_t>> changed_at;  // as the observer saw it
  std::vector<std::pair<std::string, Revision>> acknowledged;
  std::uint64_t next_unique = 0;
};

struct SessionMount {
  std::uint64_t id = 0;
  Process* process = nullptr;
  std::shared_ptr<SimFaults> faults;
  SimStore* store = nullptr;
  kv::Session* session = nullptr;
  kv::SessionOptions options;
  std::string guard_key;
  std::string slots;
  std::optional<Revision> ended_at;
  int announced = 0;
  int working = 0;
  bool opened = false;
  bool readers = false;  // its threads mostly read what others change
  std::string tag() const { return " m" + std::to_string(id) + ";"; }
};

}  // namespace symnas::sim

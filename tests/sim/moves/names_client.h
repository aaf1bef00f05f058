// NamesClient: an NFSv3 or v4.0 client that makes and removes directories and repeats calls without
// an answer, at whatever instance then serves.
//
// What must hold: one effect and the first answer. A call gets its first answer again: from the
// instance's memory when it is repeated at the instance that has done it (a broken connection), or
// when a planned move finds it begun; from its record when its instance has crashed (decision
// 0009).
//
// Thread class: for one simulated thread of the clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "tests/sim/moves/server.h"

namespace symnas::sim {

// False: a call that is repeated at another instance may be answered EXIST or NOENT.
inline constexpr bool kRepliesOutliveInstances = true;

class NamesClient {
 public:
  NamesClient(Server& server, unsigned number, fs::Handle directory)
      : server_(server), number_(number), directory_(directory) {}

  void run(std::size_t operations);
  // Checks that every name exists that should, and no other.
  void check();
  // The number of answers that were not the first ones.
  std::size_t second_answers() const { return second_answers_; }

 private:
  std::string draw_name() const;
  void make(const std::string& name);
  void remove(const std::string& name);
  void expect(const char* what, const std::string& name, const Server::Reply& reply,
              CallStatus expected, CallStatus second);
  Server::Reply ask(const Life::Body& body);
  // Makes a change, unless a former instance has made it (fsal_cluster/plugin/recorded_calls.cc).
  Server::Reply change(const std::function<std::optional<CallStatus>(fs::Mount&)>& operation);

  Server& server_;
  const unsigned number_;
  const fs::Handle directory_;
  std::set<std::string> there_;
  std::size_t second_answers_ = 0;
  std::uint32_t last_xid_ = 0;
};

}  // namespace symnas::sim

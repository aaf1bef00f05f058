// Partings: what a VNFS's instances on this head leave to those that follow: how the last one went,
// how the present one came, and the clients that may not have heard that they were left.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/env/clock.h"
#include "vnfsd/instance/connections.h"
#include "vnfsd/instance/host.h"
#include "vnfsd/instance/supervisor_requests.h"

namespace symnas::vnfsd::instance {

class Partings {
 public:
  Partings(SupervisorRequests& shown, const env::Clock& clock) : shown_(shown), clock_(clock) {}

  // --- the present instance comes
  void new_arrival() { arrival_ = {}; }
  // Its VNFS has been claimed without a standby.
  void claimed_anew() { arrival_.steps.Clear(); }
  void launched(Epoch epoch);
  void arrives(std::string_view step);
  // It serves: what is to be told of it.
  Arrival take_arrival() { return std::exchange(arrival_, {}); }

  // --- it goes as was wanted
  void begin_farewell(Epoch epoch);
  Farewell& farewell() { return farewell_; }
  const Farewell& farewell() const { return farewell_; }
  // `at_ns`: wall clock; 0: now.
  void departs(std::string_view step, std::int64_t at_ns = 0);
  // The next instance is this head's, too: its clients are woken by it, and its history says what
  // it came after.
  void follow_up();
  // What is to be said when ownership is given up; `known`: connections that the state file names.
  Farewell final_words(const std::vector<std::string>& known);

  // --- it has ended by itself
  void crashed(Epoch epoch, const std::string& how);
  // The end of what has ended last is proved.
  void proved();

  // --- clients
  // Connected when the VIPs went: they hear nothing of the instance's end.
  void left(const std::vector<Connection>& connections);
  bool anybody_left() const { return !left_.empty(); }
  std::vector<Connection> take_left() { return std::exchange(left_, {}); }
  const std::vector<Connection>& left() const { return left_; }
  // These were woken; they are to be woken once more.
  void woken(std::vector<Connection> connections);
  bool waking_is_due() const;
  std::vector<Connection> take_unheard();

 private:
  SupervisorRequests& shown_;
  const env::Clock& clock_;
  Farewell farewell_;  // of the instance that was stopped last
  Arrival arrival_;    // of the instance that is being started
  std::vector<Connection> left_;
  std::vector<Connection> to_wake_;  // again
  std::int64_t wake_at_ms_ = 0;
};

}  // namespace symnas::vnfsd::instance

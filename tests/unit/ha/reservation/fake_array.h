// A LUN with persistent reservations as in SPC-4 5.13, in memory, seen by several heads; and the
// faults between a head and it. For tests. Thread class: confined to one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "ha/reservation/commands.h"

namespace symnas::ha {

// One LUN. A nexus is a path of a head; it has a name.
struct FakeLun {
  std::string identity;
  std::uint32_t generation = 0;
  std::map<std::string, ReservationKey> registered;  // by nexus
  std::optional<Reservation> reservation;
  std::string holder;  // the nexus of the holder
  Capabilities can{.survives_power_loss = true, .knows_type = true};
  int aborts = 0;
  int resets = 0;

  bool registers(const std::string& nexus, ReservationKey key);
  bool reserves(const std::string& nexus, ReservationKey key);
  bool preempts(const std::string& nexus, ReservationKey own, ReservationKey victim);
  bool has(ReservationKey key) const;
};

// The fault that the next command on a LUN meets.
enum class Fault {
  kNone,
  kUnreachable,  // every command fails; nothing is executed
  kRefuses,      // changes end with a SCSI status, not executed
  kAnswerLost,   // changes are executed, their answers are lost
  kNotExecuted,  // changes are lost, with an error on the way
};

// The LUNs as one head sees them, by device name.
struct FakeArray {
  std::map<std::string, FakeLun> luns;  // by device name
  std::map<std::string, Fault> faults;
  // Called before a change is executed: another head may act just then.
  std::function<void(const std::string& device)> meanwhile = [](const std::string&) {};
  // Called after a change was executed, before anybody looks.
  std::function<void(const std::string& device)> afterwards = [](const std::string&) {};
  int changes = 0;

  explicit FakeArray(const std::vector<std::string>& devices);
  // For run_command, from that nexus; the steps run one after the other, in this process.
  Reach reach(const std::string& nexus);
  std::unique_ptr<Device> open(const std::string& device, const std::string& nexus);
};

}  // namespace symnas::ha

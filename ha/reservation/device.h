// Device: the reservations of one LUN. Thread class: confined to one thread; calls block.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "ha/reservation/scsi_wire.h"

namespace symnas::ha {

// How a change ended. Whether it happened is shown only by the state of the LUN afterwards.
enum class Outcome {
  kDone,
  kRefused,  // the LUN itself refused: the change has not been executed
  kUnknown,  // an error on the way: it may have been executed, or be executed later
};

struct Change {
  Outcome outcome = Outcome::kUnknown;
  std::string what;  // for people
};

class Device {
 public:
  virtual ~Device() = default;

  // The LUN's own name, the same on every head and path. Errors: kNotFound, kIo, kCorrupt.
  virtual Result<std::string> identity() = 0;
  // Errors: kIo, kCorrupt, kTooLarge, kNotSupported.
  virtual Result<Registrations> registrations() = 0;
  // The reservation, and the generation at which it was read.
  virtual Result<ReservationAnswer> reservation() = 0;
  virtual Result<Capabilities> capabilities() = 0;

  // Registers the key for this device's path or paths, in place of earlier keys; the LUN keeps the
  // registration through a power loss (APTPL).
  virtual Change enroll(ReservationKey key) = 0;
  virtual Change withdraw(ReservationKey key) = 0;
  // Reserves the LUN: Exclusive Access - Registrants Only.
  virtual Change reserve(ReservationKey key) = 0;
  // Removes every registration of `victim` and has its commands aborted. If `victim` held the
  // reservation, `own` holds it from then on.
  virtual Change preempt_and_abort(ReservationKey own, ReservationKey victim) = 0;
  // LOGICAL UNIT RESET. kDone: every command that the LUN had taken before, from any head, has
  // ended; registrations and reservation stay. Other heads' commands are aborted too, and those
  // heads send them again.
  virtual Change reset() = 0;
};

}  // namespace symnas::ha

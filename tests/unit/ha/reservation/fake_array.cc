#include "fake_array.h"

#include <algorithm>

namespace symnas::ha {
namespace {

class FakeDevice : public Device {
 public:
  FakeDevice(FakeArray& array, std::string name, std::string nexus)
      : array_(array), name_(std::move(name)), nexus_(std::move(nexus)) {}

  Result<std::string> identity() override {
    SYMNAS_TRY(reachable());
    return lun().identity;
  }
  Result<Registrations> registrations() override {
    SYMNAS_TRY(reachable());
    Registrations seen{.generation = lun().generation};
    for (const auto& [nexus, key] : lun().registered) seen.keys.push_back(key);
    return seen;
  }
  Result<ReservationAnswer> reservation() override {
    SYMNAS_TRY(reachable());
    return ReservationAnswer{lun().generation, lun().reservation};
  }
  Result<Capabilities> capabilities() override {
    SYMNAS_TRY(reachable());
    return lun().can;
  }
  Change enroll(ReservationKey key) override {
    return change([&] { return lun().registers(nexus_, key); });
  }
  Change withdraw(ReservationKey) override {
    return change([&] { return lun().registers(nexus_, ReservationKey()); });
  }
  Change reserve(ReservationKey key) override {
    return change([&] { return lun().reserves(nexus_, key); });
  }
  Change preempt_and_abort(ReservationKey own, ReservationKey victim) override {
    return change([&] { return lun().preempts(nexus_, own, victim); });
  }
  Change reset() override {
    return change([&] { return ++lun().resets > 0; });
  }

 private:
  FakeLun& lun() { return array_.luns.at(name_); }
  Status reachable() {
    if (array_.faults[name_] != Fault::kUnreachable) return {};
    return fail(ErrorCode::kIo, name_ + ": I/O error");
  }
  Change change(const std::function<bool()>& execute) {
    array_.meanwhile(name_);
    ++array_.changes;
    switch (array_.faults[name_]) {
      case Fault::kUnreachable:
      case Fault::kNotExecuted: return {Outcome::kUnknown, "I/O error"};
      case Fault::kRefuses: return {Outcome::kRefused, "SCSI result 0x2"};
      case Fault::kAnswerLost: execute(); return {Outcome::kUnknown, "time-out"};
      case Fault::kNone: break;
    }
    const bool done = execute();
    array_.afterwards(name_);
    if (done) return {Outcome::kDone, "done"};
    return {Outcome::kRefused, "reservation conflict"};
  }

  FakeArray& array_;
  const std::string name_;
  const std::string nexus_;
};

}  // namespace

bool FakeLun::has(ReservationKey key) const {
  return std::ranges::any_of(registered, [key](const auto& one) { return one.second == key; });
}

// REGISTER AND IGNORE EXISTING KEY. In a registrants-only reservation it ends when its holder
// unregisters.
bool FakeLun::registers(const std::string& nexus, ReservationKey key) {
  ++generation;
  if (key == ReservationKey()) {
    registered.erase(nexus);
    if (holder == nexus) reservation.reset(), holder.clear();
    return true;
  }
  registered[nexus] = key;
  if (holder == nexus) reservation->holder = key;
  return true;
}

bool FakeLun::reserves(const std::string& nexus, ReservationKey key) {
  const auto mine = registered.find(nexus);
  if (mine == registered.end() || mine->second != key) return false;
  if (reservation) return holder == nexus;
  reservation = Reservation{key, kExclusiveAccessRegistrantsOnly};
  holder = nexus;
  return true;
}

bool FakeLun::preempts(const std::string& nexus, ReservationKey own, ReservationKey victim) {
  const auto mine = registered.find(nexus);
  if (mine == registered.end() || mine->second != own || !has(victim)) return false;
  ++generation;
  ++aborts;
  std::erase_if(registered, [&](const auto& one) { return one.second == victim; });
  if (reservation && reservation->holder == victim) {
    reservation = Reservation{own, kExclusiveAccessRegistrantsOnly};
    holder = nexus;
  }
  return true;
}

FakeArray::FakeArray(const std::vector<std::string>& devices) {
  for (const std::string& device : devices) luns[device].identity = "naa." + device;
}

std::unique_ptr<Device> FakeArray::open(const std::string& device, const std::string& nexus) {
  return std::make_unique<FakeDevice>(*this, device, nexus);
}

Reach FakeArray::reach(const std::string& nexus) {
  Reach reach;
  reach.open = [this, nexus](const std::string& device) -> Result<std::unique_ptr<Device>> {
    return open(device, nexus);
  };
  reach.on_each = [](const std::vector<std::string>& devices, std::int64_t, const LunStep& step) {
    std::vector<Result<LunState>> answers;
    for (const std::string& device : devices) answers.push_back(step(device));
    return answers;
  };
  return reach;
}

}  // namespace symnas::ha

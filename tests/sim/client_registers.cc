// Client: the file of registers, which all clients write, grow and truncate at the same time.
#include "tests/sim/client.h"
#include "tests/sim/data_calls.h"

namespace symnas::sim {

using fs::Mount;

void Client::one_register() {
  if (below(12) < static_cast<std::uint64_t>(workload_.resize_weight)) {
    resize_registers();
    return;
  }
  switch (below(12)) {
    case 0: commit_registers(); break;
    case 1:
    case 2:
    case 3:
    case 4:
    case 5: write_registers(pick_registers()); break;
    default: read_registers(pick_registers()); break;
  }
}

// Registers that always exist, or also those of the tail.
Client::Sectors Client::pick_registers() {
  const std::uint64_t end = below(3) == 0 ? Registers::kAll : Registers::kSectors;
  const std::uint64_t first = below(end);
  const std::uint64_t most = std::min<std::uint64_t>(12, end - first);
  return {first, below(2) == 0 ? 1 : 1 + below(most)};
}

void Client::write_registers(Sectors sectors) {
  Registers& registers = *shared_.registers;
  const Registers::Change change =
      registers.begin_write(sectors.first, sectors.count, {head_, epoch_});
  std::string bytes;
  for (const std::uint64_t value : change.values) bytes += Registers::sector(value);
  const auto wanted = below(3) == 0 ? fs::WriteStability::kFileSync : fs::WriteStability::kUnstable;
  std::optional<Result<fs::WriteResult>> result;
  trace("client %d: registers %llu to %llu become %llu and up%s", index_,
        static_cast<unsigned long long>(sectors.first),
        static_cast<unsigned long long>(sectors.first + sectors.count),
        static_cast<unsigned long long>(change.values.front()),
        wanted == fs::WriteStability::kFileSync ? ", stable" : "");
  // Never freed: an instance that lives longer than this operation may still read from it.
  auto* const kept = new std::string(std::move(bytes));
  const Reply reply = call([&](Mount& mount) {
    Waiting<fs::WriteResult> waiting;
    mount.write(registers.handle, FileOffset{sectors.first * Registers::kSectorBytes},
                std::as_bytes(std::span(*kept)), wanted, waiting.callback());
    result = waiting.get();
  });
  const bool good = reply == Reply::kAnswered && result->has_value();
  trace("client %d: registers %s", index_, good ? "written" : "not written, or nobody knows");
  if (reply == Reply::kAnswered && !good && !may_refuse(result->error().code)) {
    must("write of registers: " + result->error().message);
  }
  auto outcome = Registers::Outcome::kUnknown;
  if (good) {
    const bool stable = (*result)->achieved != fs::WriteStability::kUnstable;
    outcome = stable ? Registers::Outcome::kStable : Registers::Outcome::kUnstable;
  }
  registers.ended(change, outcome);
}

bool Client::read_registers(Sectors sectors) {
  Registers& registers = *shared_.registers;
  const std::int64_t start = registers.moment();
  std::optional<Result<Bytes>> got;
  const Reply reply = call([&](Mount& mount) {
    got = read_bytes(mount, registers.handle, sectors.first * Registers::kSectorBytes,
                     sectors.count * Registers::kSectorBytes);
  });
  if (reply != Reply::kAnswered) return false;
  if (!*got && may_refuse(got->error().code)) return false;
  if (!*got) must("read of registers: " + got->error().message);
  must(registers.saw(
      sectors.first, sectors.count, (*got)->bytes, start,
      [this](const Through& through) { return heads_[through.head].lives(through.epoch); }));
  trace("client %d: registers %llu to %llu read", index_,
        static_cast<unsigned long long>(sectors.first),
        static_cast<unsigned long long>(sectors.first + sectors.count));
  return true;
}

// Changes the map of the file while others read and write in place: often truncates, through the
// same instance, what has grown and is not recorded yet.
void Client::resize_registers() {
  const std::uint64_t dice = below(4);
  if (dice > 0) {
    const std::uint64_t first = Registers::kSectors + below(Registers::kTail);
    write_registers({first, 1 + below(std::min<std::uint64_t>(12, Registers::kAll - first))});
  }
  if (dice < 3) cut_registers(Registers::kSectors + below(Registers::kTail + 1));
}

void Client::cut_registers(std::uint64_t size) {
  Registers& registers = *shared_.registers;
  fs::SetAttributes changes;
  changes.size_bytes = size * Registers::kSectorBytes;
  trace("client %d: registers end at %llu", index_, static_cast<unsigned long long>(size));
  const Registers::Change change = registers.begin_resize(size);
  std::optional<Result<fs::Attributes>> got;
  const Reply reply = call(
      [&](Mount& mount) { got = mount.setattr(fs::Credentials{}, registers.handle, changes); });
  const bool good = reply == Reply::kAnswered && got->has_value();
  trace("client %d: registers %s", index_, good ? "resized" : "not resized, or nobody knows");
  if (reply == Reply::kAnswered && !good && !may_refuse(got->error().code)) {
    must("size of registers: " + got->error().message);
  }
  registers.ended(change, good ? Registers::Outcome::kStable : Registers::Outcome::kUnknown);
}

void Client::commit_registers() {
  Registers& registers = *shared_.registers;
  const std::int64_t start = registers.moment();
  std::optional<Status> status;
  const Reply reply = call([&](Mount& mount) {
    Waiting<void> waiting;
    mount.commit(registers.handle, waiting.callback());
    status = waiting.get();
  });
  if (reply != Reply::kAnswered) return;
  if (*status) {
    registers.committed({head_, epoch_}, start);
  } else if (!may_refuse(status->error().code)) {
    must("commit of registers: " + status->error().message);
  }
}

void Client::check_registers() {
  if (shared_.registers == nullptr) return;
  for (head_ = 0; head_ < heads_.size(); ++head_) {
    do {
      epoch_ = heads_[head_].epoch();
    } while (!read_registers({0, Registers::kAll}));
  }
  head_ = 0;
  epoch_ = heads_[head_].epoch();
}

}  // namespace symnas::sim

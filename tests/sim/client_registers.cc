// Client: the file of registers, which all clients write in place at once.
#include "tests/sim/client.h"
#include "tests/sim/data_calls.h"

namespace symnas::sim {

using fs::Mount;

void Client::one_register() {
  switch (below(12)) {
    case 0: resize_behind_registers(); break;
    case 1:
    case 2:
    case 3:
    case 4:
    case 5: write_registers(); break;
    default: read_registers(); break;
  }
}

std::pair<std::uint64_t, std::uint64_t> Client::pick_registers() {
  const std::uint64_t first = below(Registers::kSectors);
  const std::uint64_t most = std::min<std::uint64_t>(12, Registers::kSectors - first);
  return {first, below(2) == 0 ? 1 : 1 + below(most)};
}

void Client::write_registers() {
  Registers& registers = *shared_.registers;
  const auto [first, count] = pick_registers();
  std::vector<std::uint64_t> values;
  std::string bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    values.push_back(registers.new_value());
    bytes += Registers::sector(values.back());
  }
  const auto wanted = below(3) == 0 ? fs::WriteStability::kFileSync : fs::WriteStability::kUnstable;
  const std::int64_t start = registers.moment();
  std::optional<Result<fs::WriteResult>> result;
  trace("client %d: registers %llu to %llu become %llu and up", index_,
        static_cast<unsigned long long>(first), static_cast<unsigned long long>(first + count),
        static_cast<unsigned long long>(values.front()));
  // Lives on: an instance that lives longer than this operation may still read from it.
  auto* const kept = new std::string(std::move(bytes));
  const Reply reply = call([&](Mount& mount) {
    Waiting<fs::WriteResult> waiting;
    mount.write(registers.handle, FileOffset{first * Registers::kSectorBytes},
                std::as_bytes(std::span(*kept)), wanted, waiting.callback());
    result = waiting.get();
  });
  const bool good = reply == Reply::kAnswered && result->has_value();
  trace("client %d: registers %s", index_, good ? "written" : "not written, or nobody knows");
  if (reply == Reply::kAnswered && !good && !may_refuse(result->error().code)) {
    must("write of registers: " + result->error().message);
  }
  registers.wrote(first, values, start, good);
}

void Client::read_registers() {
  Registers& registers = *shared_.registers;
  const auto [first, count] = pick_registers();
  const std::int64_t start = registers.moment();
  std::optional<Result<Bytes>> got;
  const Reply reply = call([&](Mount& mount) {
    got = read_bytes(mount, registers.handle, first * Registers::kSectorBytes,
                     count * Registers::kSectorBytes);
  });
  if (reply != Reply::kAnswered) return;
  if (!*got && may_refuse(got->error().code)) return;
  if (!*got) must("read of registers: " + got->error().message);
  if ((*got)->bytes.size() != count * Registers::kSectorBytes) must("a short read of registers");
  must(registers.saw(first, (*got)->bytes, start));
  trace("client %d: registers %llu to %llu read", index_, static_cast<unsigned long long>(first),
        static_cast<unsigned long long>(first + count));
}

// The map of the file changes under those who write and read in place.
void Client::resize_behind_registers() {
  Registers& registers = *shared_.registers;
  constexpr std::uint64_t kEnd = Registers::kSectors * Registers::kSectorBytes;
  if (below(2) == 0) {
    fs::SetAttributes changes;
    changes.size_bytes = kEnd + below(40'000);
    call([&](Mount& mount) {
      static_cast<void>(mount.setattr(fs::Credentials{}, registers.handle, changes));
    });
    return;
  }
  auto* const kept = new std::string(1 + below(9'000), 'x');
  call([&](Mount& mount) {
    Waiting<fs::WriteResult> waiting;
    mount.write(registers.handle, FileOffset{kEnd + below(40'000)}, std::as_bytes(std::span(*kept)),
                fs::WriteStability::kUnstable, waiting.callback());
    static_cast<void>(waiting.get());
  });
}

}  // namespace symnas::sim

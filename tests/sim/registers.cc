#include "tests/sim/registers.h"

#include <cstring>

namespace symnas::sim {

std::string Registers::sector(std::uint64_t value) {
  std::string out(kSectorBytes, '\0');
  for (std::size_t at = 0; at < kSectorBytes; at += sizeof value) {
    std::memcpy(out.data() + at, &value, sizeof value);
  }
  return out;
}

void Registers::wrote(std::uint64_t first, const std::vector<std::uint64_t>& values,
                      std::int64_t start, bool acknowledged) {
  const std::int64_t end = acknowledged ? moment() : test::RegisterHistory::kNever;
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    histories_[first + i].add_write(values[i], start, end);
  }
}

std::string Registers::saw(std::uint64_t first, std::string_view bytes, std::int64_t start) {
  const std::int64_t end = moment();
  for (std::uint64_t i = 0; i * kSectorBytes < bytes.size(); ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + i * kSectorBytes, sizeof value);
    if (value > newest_ || bytes.substr(i * kSectorBytes, kSectorBytes) != sector(value)) {
      return "register " + std::to_string(first + i) + " holds torn or foreign bytes";
    }
    histories_[first + i].add_read(value, start, end);
  }
  return {};
}

std::string Registers::check() const {
  for (std::uint64_t i = 0; i < kSectors; ++i) {
    if (const auto wrong = histories_[i].violation()) {
      return "register " + std::to_string(i) + ": " + *wrong;
    }
  }
  return {};
}

}  // namespace symnas::sim

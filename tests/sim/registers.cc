#include "tests/sim/registers.h"

#include <algorithm>
#include <cstring>

namespace symnas::sim {

void SizedHistory::begin_write(std::uint64_t value, std::int64_t start, Through through) {
  writes_.push_back({value, start, kNever, through, false});
}

void SizedHistory::acknowledged(std::int64_t start, std::int64_t end, Outlives outlives) {
  for (Write& write : writes_) {
    if (write.start != start) continue;
    write.end = end;
    write.firm = outlives == Outlives::kInstance;
  }
}

void SizedHistory::committed(const Through& through, std::int64_t start) {
  for (Write& write : writes_) {
    if (write.through == through && write.end < start) write.firm = true;
  }
}

std::string SizedHistory::add_read(std::uint64_t value, std::int64_t start, std::int64_t end,
                                   const Lives& lives) const {
  const Write* replaced = nullptr;
  for (const Write& write : writes_) {
    if (write.value != value || write.start > end) continue;
    const auto later = std::find_if(writes_.begin(), writes_.end(), [&](const Write& other) {
      return write.end < other.start && other.end < start && (other.firm || lives(other.through));
    });
    if (later == writes_.end()) return {};
    replaced = &*later;
  }
  if (replaced == nullptr) return "holds value " + std::to_string(value) + ", never written";
  return "holds value " + std::to_string(value) + ", which " + std::to_string(replaced->value) +
         " had replaced";
}

std::string Registers::sector(std::uint64_t value) {
  std::string out(kSectorBytes, '\0');
  for (std::size_t at = 0; at < kSectorBytes; at += sizeof value) {
    std::memcpy(out.data() + at, &value, sizeof value);
  }
  return out;
}

Registers::Change Registers::begin_write(std::uint64_t first, std::uint64_t count,
                                         Through through) {
  Change change{first, {}, moment()};
  for (std::uint64_t at = first; at < first + count; ++at) {
    change.values.push_back(++newest_);
    if (at >= kSectors) tail_[at - kSectors].begin_write(newest_, change.start, through);
  }
  return change;
}

Registers::Change Registers::begin_resize(std::uint64_t sectors) {
  Change change{sectors, std::vector<std::uint64_t>(kAll - sectors), moment()};
  for (std::uint64_t at = sectors; at < kAll; ++at) {
    tail_[at - kSectors].begin_write(0, change.start, {});
  }
  return change;
}

void Registers::ended(const Change& change, Outcome outcome) {
  const std::int64_t end = outcome == Outcome::kUnknown ? SizedHistory::kNever : moment();
  for (std::uint64_t i = 0; i < change.values.size(); ++i) {
    const std::uint64_t at = change.first + i;
    if (at < kSectors) {
      histories_[at].add_write(change.values[i], change.start, end);
    } else if (outcome != Outcome::kUnknown) {
      tail_[at - kSectors].acknowledged(change.start, end,
                                        outcome == Outcome::kStable
                                            ? SizedHistory::Outlives::kInstance
                                            : SizedHistory::Outlives::kNot);
    }
  }
}

void Registers::committed(const Through& through, std::int64_t start) {
  for (SizedHistory& sector : tail_) sector.committed(through, start);
}

std::string Registers::saw(std::uint64_t first, std::uint64_t count, std::string_view bytes,
                           std::int64_t start, const SizedHistory::Lives& lives) {
  const std::int64_t end = moment();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = "register " + std::to_string(first + i);
    std::string_view got;
    if (i * kSectorBytes < bytes.size()) got = bytes.substr(i * kSectorBytes, kSectorBytes);
    if (got.empty() && first + i < kSectors) return name + " is missing in a short READ";
    std::uint64_t value = 0;
    if (!got.empty()) std::memcpy(&value, got.data(), sizeof value);
    if (value > newest_ || (!got.empty() && got != sector(value))) {
      return name + " holds torn or foreign bytes";
    }
    if (first + i < kSectors) {
      histories_[first + i].add_read(value, start, end);
      continue;
    }
    const std::string wrong = tail_[first + i - kSectors].add_read(value, start, end, lives);
    if (!wrong.empty()) return name + " " + wrong;
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

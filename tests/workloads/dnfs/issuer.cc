#include "tests/workloads/dnfs/issuer.h"

#include <algorithm>

#include <fmt/core.h>

namespace symnas::dnfs {
namespace {

constexpr std::int64_t kLookAgainUs = 1000;  // the block that comes next is being written
constexpr std::int64_t kNever = INT64_MAX;
constexpr int kDraws = 8;
constexpr double kRateCreditUs = 1e6;  // what was not used of the rate is kept for a second

}  // namespace

Issuer::Issuer(const ThreadJob& job, FileBlocks& blocks)
    : job_(job),
      blocks_(blocks),
      slots_(static_cast<std::size_t>(job.depth)),
      random_(job.seed * 0x9e3779b97f4a7c15ull + file_id(job.name)) {}

std::uint64_t Issuer::draw() {  // splitmix64
  std::uint64_t z = random_ += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

std::optional<std::uint64_t> Issuer::in_order(std::uint64_t first, std::uint64_t step,
                                              std::uint64_t count) {
  if (cursor_ >= count) {
    if (job_.ends_by_itself()) return std::nullopt;
    cursor_ = 0;
  }
  return first + cursor_ * step;
}

// The block's number in the file; none if what comes next is being written, or nothing comes.
std::optional<std::uint64_t> Issuer::choose(bool write) {
  const std::uint64_t base = job_.offset_bytes / job_.block_bytes;
  const std::uint64_t step = write ? job_.writers : 1;
  const std::uint64_t first = write ? base + (job_.writer + step - base % step) % step : base;
  const std::uint64_t count = (base + job_.blocks() - first + step - 1) / step;
  const bool random =
      job_.mode == Mode::kRead || job_.mode == Mode::kWrite || job_.mode == Mode::kMix;
  const auto free = [&](std::uint64_t block) {
    return !write || !blocks_.writing(block * units_each(), units_each());
  };
  if (!random) {
    const auto block = in_order(first, step, count);
    if (!block || !free(*block)) return std::nullopt;
    ++cursor_;
    return block;
  }
  for (int i = 0; i < kDraws; ++i)
    if (const std::uint64_t block = first + draw() % count * step; free(block)) return block;
  return std::nullopt;
}

std::optional<Operation> Issuer::next(std::int64_t now_us) {
  wake_us_ = kNever;
  if (job_.rate_bytes_s > 0 && allowed_us_ > static_cast<double>(now_us)) {
    wake_us_ = static_cast<std::int64_t>(allowed_us_) + 1;
    return std::nullopt;
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].busy) continue;
    if (slots_[i].ready_us > now_us) {
      wake_us_ = std::min(wake_us_, slots_[i].ready_us);
      continue;
    }
    const bool write =
        job_.writes() &&
        (job_.mode != Mode::kMix || draw() % 100 >= static_cast<std::uint64_t>(job_.read_percent));
    const auto block = choose(write);
    if (!block) {
      if (!over()) wake_us_ = now_us + kLookAgainUs;
      return std::nullopt;
    }
    if (job_.rate_bytes_s > 0)
      allowed_us_ = std::max(allowed_us_, static_cast<double>(now_us) - kRateCreditUs) +
                    job_.block_bytes * 1e6 / static_cast<double>(job_.rate_bytes_s);
    wake_us_ = now_us;
    return begin(i, write, *block, now_us);
  }
  return std::nullopt;
}

Operation Issuer::begin(std::size_t index, bool write, std::uint64_t block, std::int64_t now_us) {
  Slot& slot = slots_[index];
  slot.busy = true;
  slot.write = write;
  slot.block = block;
  slot.begun_us = now_us;
  slot.read_again = 0;
  slot.moved = write ? job_.block_bytes : 0;
  ++outstanding_;
  if (write) {
    slot.data.resize(job_.block_bytes);
    blocks_.begin_write(block * units_each(), slot.data, job_.seed);
  }
  return operation(index);
}

Operation Issuer::operation(std::size_t index) {
  Slot& slot = slots_[index];
  if (!slot.write) {
    slot.floors.resize(units_each());
    for (std::uint64_t i = 0; i < units_each(); ++i)
      slot.floors[i] = blocks_.floor(slot.block * units_each() + i);
  }
  return {index, slot.write, slot.block * job_.block_bytes, job_.block_bytes,
          slot.write ? std::span<const char>(slot.data) : std::span<const char>()};
}

void Issuer::note(const std::string& text) {
  if (counters_.texts.size() < kKeptTexts) counters_.texts.push_back(text);
}

void Issuer::take(std::size_t index, std::span<const char> data) {
  Slot& slot = slots_[index];
  slot.torn = false;
  slot.moved = data.size();
  if (!job_.verify) return;
  const std::uint32_t unit_bytes = blocks_.unit_bytes();
  for (std::uint64_t i = 0; i < units_each(); ++i) {
    const std::uint64_t unit = slot.block * units_each() + i;
    const std::size_t from = std::min<std::size_t>(data.size(), i * unit_bytes);
    const auto part = data.subspan(from, std::min<std::size_t>(unit_bytes, data.size() - from));
    const Verdict verdict = blocks_.judge(unit, part, slot.floors[i]);
    if (verdict == Verdict::kRight) continue;
    if (verdict == Verdict::kTorn && slot.read_again < kReadAgainMax) {
      slot.torn = true;
      continue;
    }
    ++counters_.corrupt;
    note(fmt::format("corrupt: {} at {} of {}", to_string(verdict), unit * unit_bytes,
                     blocks_.path()));
  }
}

std::optional<Operation> Issuer::finish(std::size_t index, std::int64_t now_us,
                                        std::int64_t epoch_s, const std::string& error) {
  Slot& slot = slots_[index];
  if (error.empty() && !slot.write && slot.torn) {
    slot.torn = false;
    ++slot.read_again;
    ++counters_.read_again;
    return operation(index);
  }
  if (slot.write) blocks_.end_write(slot.block * units_each(), units_each(), error.empty());
  slot.busy = false;
  slot.ready_us = now_us + job_.think_ms * 1000;
  --outstanding_;
  if (!error.empty()) {
    ++counters_.errors;
    note(fmt::format("{} at {} of {}: {}", slot.write ? "write" : "read",
                     slot.block * job_.block_bytes, blocks_.path(), error));
    return std::nullopt;
  }
  const auto took = static_cast<std::uint64_t>(std::max<std::int64_t>(0, now_us - slot.begun_us));
  ++counters_.ops;
  counters_.bytes += slot.moved;
  counters_.latency.add(took);
  Second& second = counters_.seconds[epoch_s];
  ++second.ops;
  second.bytes += slot.moved;
  second.max_us = std::max(second.max_us, took);
  return std::nullopt;
}

bool Issuer::over() const {
  if (!job_.ends_by_itself() || outstanding_ > 0) return false;
  const std::uint64_t base = job_.offset_bytes / job_.block_bytes;
  const std::uint64_t step = job_.writes() ? job_.writers : 1;
  const std::uint64_t first = base + (job_.writer + step - base % step) % step;
  return first + cursor_ * step >= base + job_.blocks();
}

}  // namespace symnas::dnfs

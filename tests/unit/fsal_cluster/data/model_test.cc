// Property: random reads, writes, size changes, commits and removals against a model of the bytes,
// with I/O that completes in any order, instances that die and disks that lose power. What must
// hold:
//   - a read sees exactly the acknowledged bytes (and nothing foreign: the disk is full of poison
//     and of other files);
//   - after a death or a power loss every byte that was acknowledged as stable or committed is
//     there, every other one has its old or its new value, and no byte is from somewhere else;
//   - one value of the change attribute never stands for two contents, not even across an outage;
//   - the records agree with each other.
// A failure prints its seed; MODEL_SEED=<n> runs that one alone.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

constexpr std::uint64_t kCell = 64;  // writes are whole cells: no sector holds half a cell
constexpr std::uint64_t kFileMax = 6 << 20;
using WriteNumber = std::uint32_t;  // 0 = zeros

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  return x;
}

// What write `number` puts into cell `cell` of file `ino`.
std::string cell_bytes(std::uint64_t ino, std::uint64_t cell, WriteNumber number) {
  std::string out(kCell, '\0');
  if (number == 0) return out;
  for (std::size_t i = 0; i < kCell; i += 8) {
    const std::uint64_t word = mix(ino << 56 ^ cell << 32 ^ number ^ i << 20) | 1;
    std::memcpy(out.data() + i, &word, 8);
  }
  return out;
}

struct Cell {
  WriteNumber now = 0;
  std::vector<WriteNumber> may;  // after a crash it may hold one of these instead of `durable`
  WriteNumber durable = 0;
  std::vector<WriteNumber> ever;  // every write that has been made here
};

struct InFlight {
  std::uint64_t begin;  // bytes
  std::uint64_t end;
  WriteNumber number;
  WriteStability wanted;
  std::string bytes;
  std::optional<Result<WriteResult>> answer;
};

struct FileModel {
  Ino ino;
  std::vector<Cell> cells;  // up to the largest size ever
  std::uint64_t size = 0;
  std::uint64_t durable_size = 0;
  std::uint64_t size_most = 0;  // a crash may leave any size between
  std::vector<std::shared_ptr<InFlight>> in_flight;
  std::map<std::uint64_t, std::uint64_t> seen;  // change -> hash of the content
  void reach(std::uint64_t bytes) {
    if (cells.size() * kCell < bytes) cells.resize((bytes + kCell - 1) / kCell);
  }
};

class Model {
 public:
  // The model's bytes begin at `base` of each file: below it there is a hole.
  enum class Store { kSound, kFaulty };
  Model(std::uint64_t seed, std::uint64_t base, Store store)
      : random_(seed), world_(options(seed, store)), base_(base) {
    for (std::uint64_t i = 0; i < 3; ++i) add_file();
  }

  void run(int operations) {
    for (int i = 0; i < operations && !::testing::Test::HasFailure(); ++i) one();
    drain_all();
    world_.stop_store_faults();
    for (auto& [ino, file] : files_) check_all(file);
    world_.close_cleanly();
    world_.start();
    world_.settle();
    for (auto& [ino, file] : files_) check_all(file);
    const std::uint64_t mapped = world_.check_records();
    Result<SpaceUse> use = world_.data().space();
    ASSERT_TRUE(use.has_value());
    EXPECT_EQ(use->total_bytes - use->free_bytes, mapped * kBlockBytes);
  }

 private:
  static WorldOptions options(std::uint64_t seed, Store store) {
    WorldOptions out;
    if (store == Store::kFaulty) {
      out.store_faults = kv::FaultWeights{.conflict = 200,
                                          .unavailable = 100,
                                          .request_lost = 50,
                                          .reply_lost = 200,
                                          .commit_late = 100,
                                          .duplicate = 100,
                                          .watch_drop_event = 20,
                                          .watch_end = 20};
    }
    out.seed = seed;
    out.volume_bytes = 48 << 20;
    out.group_blocks = 1024;
    out.mode = ::symnas::test::SimVolume::Mode::kQueued;
    return out;
  }

  FileModel& some_file() {
    auto it = files_.begin();
    std::advance(it, random_.below(files_.size()));
    return it->second;
  }

  void add_file() {
    const Ino ino{++last_ino_};
    world_.create(ino);
    files_[ino.value()].ino = ino;
  }

  void one() {
    FileModel& file = some_file();
    switch (random_.below(27)) {
      case 24:
      case 25: change_space(file); break;
      case 26: seek(file); break;
      case 0: set_size(file); break;
      case 1:
      case 2: commit(file); break;
      case 3: world_.pass_ns(static_cast<std::int64_t>(random_.below(5)) * 1'000'000'000); break;
      case 4:
        if (random_.below(6) == 0) remove(file);
        break;
      case 5:
        if (random_.below(5) == 0) crash();
        break;
      case 6:
      case 7:
      case 8:
      case 9: read(file); break;
      case 10: observe(file); break;
      case 11: slow_read(file); break;
      default: write(file); break;
    }
    for (std::uint64_t i = random_.below(6); i > 0; --i) world_.step();
    collect();
  }

  std::uint64_t pick_offset(const FileModel& file) {
    const std::uint64_t top = file.size / kCell;
    // Beside a write under way: both write to parts of one block, often of one sector.
    if (!file.in_flight.empty() && random_.below(4) == 0) return file.in_flight.back()->end;
    switch (random_.below(6)) {
      case 0: return random_.below(kFileMax / kCell) * kCell;    // anywhere: holes
      case 1: return (top + random_.below(200)) * kCell;         // a bit beyond the end
      case 2: return top == 0 ? 0 : random_.below(top) * kCell;  // inside
      case 3: return (top * kCell) / 4096 * 4096;                // around the last block
      default: return (file.size + kCell - 1) / kCell * kCell;   // append
    }
  }

  void write(FileModel& file) {
    std::uint64_t begin = pick_offset(file);
    std::uint64_t cells = 1 + random_.below(random_.below(3) == 0 ? 3000 : 130);
    if (random_.below(4) == 0) cells = 1 + random_.below(4);
    if (random_.below(3) == 0) {  // whole blocks
      begin = begin / 4096 * 4096;
      cells = (cells + 63) / 64 * 64;
    }
    const std::uint64_t end = std::min(kFileMax, begin + cells * kCell);
    if (begin >= end) return;
    for (const auto& other : file.in_flight) {
      if (other->begin < end && begin < other->end) return;
    }
    auto op = std::make_shared<InFlight>();
    op->begin = begin;
    op->end = end;
    op->number = ++last_write_;
    op->wanted = random_.below(4) == 0 ? WriteStability::kFileSync : WriteStability::kUnstable;
    file.reach(end);
    for (std::uint64_t cell = begin / kCell; cell < end / kCell; ++cell) {
      op->bytes += cell_bytes(file.ino.value(), cell, op->number);
      file.cells[cell].may.push_back(op->number);
      file.cells[cell].ever.push_back(op->number);
    }
    file.size_most = std::max(file.size_most, end);
    file.in_flight.push_back(op);
    world_.data().write(world_.handle(file.ino), FileOffset{base_ + begin},
                        std::as_bytes(std::span(op->bytes)), op->wanted,
                        [op](Result<WriteResult> result) { op->answer = std::move(result); });
  }

  // Takes the answers into the model.
  void collect() {
    for (auto& [ino, file] : files_) {
      std::erase_if(file.in_flight, [&](const std::shared_ptr<InFlight>& op) {
        if (!op->answer) return false;
        if (*op->answer) {
          apply(file, *op);
        } else {
          EXPECT_TRUE(dying_) << op->answer->error().message;
        }
        return true;
      });
    }
  }

  void apply(FileModel& file, const InFlight& op) {
    const bool stable = op.wanted != WriteStability::kUnstable;
    for (std::uint64_t cell = op.begin / kCell; cell < op.end / kCell; ++cell) {
      Cell& c = file.cells[cell];
      c.now = op.number;
      if (!stable) continue;
      c.durable = op.number;
      std::erase_if(c.may, [&](WriteNumber n) { return n <= op.number; });
    }
    file.size = std::max(file.size, op.end);
    // A stable write commits at least up to its own end (bytes below it may still be volatile).
    if (stable) file.durable_size = std::max(file.durable_size, op.end);
  }

  void drain(FileModel& file) {
    while (!file.in_flight.empty()) {
      if (!world_.step()) world_.clock().advance_ns(1'000'000);
      collect();
    }
  }
  void drain_all() {
    for (auto& [ino, file] : files_) drain(file);
  }

  void commit(FileModel& file) {
    if (random_.below(2) == 0) drain(file);
    // What is acknowledged by now must be stable afterwards.
    std::vector<WriteNumber> now;
    for (const Cell& c : file.cells) now.push_back(c.now);
    const std::uint64_t size = file.size;
    EXPECT_TRUE(world_.commit(file.ino).has_value());
    for (std::size_t i = 0; i < now.size(); ++i) {
      Cell& c = file.cells[i];
      if (c.durable < now[i] || now[i] == 0) c.durable = std::max(c.durable, now[i]);
      std::erase_if(c.may, [&](WriteNumber n) { return n <= now[i]; });
    }
    file.durable_size = std::max(file.durable_size, size);
    collect();
  }

  void set_size(FileModel& file) {
    drain(file);
    std::uint64_t size = random_.below(kFileMax / kCell) * kCell;
    if (random_.below(3) == 0) size = 0;
    if (random_.below(3) == 0) size = file.size / 2 / kCell * kCell;
    EXPECT_TRUE(world_.set_size(file.ino, size == 0 ? 0 : base_ + size).has_value());
    file.reach(size);
    for (std::uint64_t cell = 0; cell < file.cells.size(); ++cell) {
      Cell& c = file.cells[cell];
      if (cell * kCell >= size) c = Cell{.ever = std::move(c.ever)};
      c.durable = c.now;  // pending growth is committed first, in-place writes are flushed with it
      c.may.clear();
    }
    file.size = file.durable_size = file.size_most = size;
    collect();
  }

  void change_space(FileModel& file) {
    drain(file);
    const std::uint64_t begin = pick_offset(file);
    const std::uint64_t cells = 1 + random_.below(random_.below(2) == 0 ? 60 : 3000);
    const std::uint64_t end = std::min(kFileMax, begin + cells * kCell);
    if (begin >= end) return;
    if (random_.below(2) == 0) {
      EXPECT_TRUE(world_.allocate(file.ino, base_ + begin, end - begin).has_value());
      file.size = std::max(file.size, end);
      file.reach(end);
    } else {
      EXPECT_TRUE(world_.deallocate(file.ino, base_ + begin, end - begin).has_value());
      if (begin >= file.size) return collect();  // nothing is committed then
      for (std::uint64_t cell = begin / kCell; cell < std::min(end, file.size) / kCell; ++cell)
        file.cells[cell].now = 0;
    }
    for (Cell& c : file.cells) {  // everything is committed first
      c.durable = c.now;
      c.may.clear();
    }
    file.durable_size = file.size_most = file.size;
    collect();
  }

  // What is passed is zeros; what is found as a hole is one up to the end of its block.
  void seek(FileModel& file) {
    drain(file);
    std::uint64_t begin = random_.below(file.size / kCell + 2) * kCell;
    const Content content = random_.below(2) == 0 ? Content::kData : Content::kHole;
    const auto got = world_.seek(file.ino, base_ + begin, content);
    ASSERT_TRUE(got.has_value()) << got.error().message;
    ASSERT_EQ(got->has_value(), begin < file.size);
    if (!got->has_value()) return;
    std::uint64_t end = (*got)->offset - base_;
    ASSERT_TRUE(begin <= end && end <= file.size) << end;
    ASSERT_EQ((*got)->end_of_file, end == file.size);
    if (content == Content::kHole) begin = end;
    if (content == Content::kHole) end = std::min(file.size, end / 4096 * 4096 + 4096);
    for (std::uint64_t cell = begin / kCell; cell < end / kCell; ++cell)
      ASSERT_EQ(file.cells[cell].now, 0u) << "byte " << cell * kCell << " is no hole";
  }

  void remove(FileModel& file) {
    drain(file);
    EXPECT_TRUE(world_.remove(file.ino).has_value());
    EXPECT_EQ(world_.read(file.ino, 0, 10).error().code, ErrorCode::kStale);
    files_.erase(file.ino.value());
    add_file();
  }

  void read(FileModel& file) {
    const std::uint64_t begin = random_.below(kFileMax / kCell) * kCell;
    const std::uint64_t bytes = (1 + random_.below(4000)) * kCell;
    if (random_.below(2) == 0) drain(file);
    const auto busy = file.in_flight;  // those cells may change under the read
    const auto got = world_.read(file.ino, base_ + begin, bytes);
    ASSERT_TRUE(got.has_value()) << got.error().message;
    const std::uint64_t expected = begin >= file.size ? 0 : std::min(bytes, file.size - begin);
    if (busy.empty()) {
      ASSERT_EQ(got->size(), expected);
    } else {
      ASSERT_GE(got->size(), expected);
    }
    for (std::uint64_t at = 0; at + kCell <= expected; at += kCell) {
      const std::uint64_t where = begin + at;
      const bool moving = std::any_of(busy.begin(), busy.end(), [&](const auto& op) {
        return op->begin <= where && where < op->end;
      });
      if (moving) continue;
      const std::uint64_t cell = where / kCell;
      ASSERT_TRUE(
          got->compare(at, kCell, cell_bytes(file.ino.value(), cell, file.cells[cell].now)) == 0)
          << "inode " << file.ino.value() << " byte " << where << " should be of write "
          << file.cells[cell].now << ": " << describe(file, cell, got->substr(at, kCell));
    }
    collect();
  }

  // A read for which nothing waits: truncates, removals and new owners of its blocks overtake it.
  // It may see old bytes of its file, never those of another one.
  void slow_read(FileModel& file) {
    const std::uint64_t begin = random_.below(file.size / kCell + 1) * kCell;
    const Ino ino = file.ino;
    const auto done = [this, ino, begin](Result<ReadResult> result) {
      if (!result) return;
      const auto it = files_.find(ino.value());
      if (it == files_.end()) return;
      const char* bytes = reinterpret_cast<const char*>(result->buffer.data());
      for (std::uint64_t at = 0; at + kCell <= result->bytes; at += kCell) {
        const std::string got(bytes + result->offset_bytes + at, kCell);
        const std::uint64_t cell = (begin + at) / kCell;
        bool own = got == std::string(kCell, '\0');
        for (const WriteNumber n : it->second.cells[cell].ever) {
          own = own || got == cell_bytes(ino.value(), cell, n);
        }
        ASSERT_TRUE(own) << "inode " << ino.value() << " byte " << begin + at << " "
                         << describe(it->second, cell, got);
      }
    };
    world_.data().read(world_.handle(ino), FileOffset{base_ + begin}, 256 << 10, done);
  }

  std::string describe(const FileModel& file, std::uint64_t cell, const std::string& bytes) {
    for (WriteNumber n = 0; n <= last_write_; ++n) {
      if (bytes == cell_bytes(file.ino.value(), cell, n)) return "is of write " + std::to_string(n);
    }
    if (bytes == std::string(kCell, static_cast<char>(FileWorld::kPoison))) return "is poison";
    if (bytes == std::string(kCell, 'Z')) return "is an unfilled buffer";
    return "is foreign";
  }

  void check_all(FileModel& file) {
    const auto got = world_.read(file.ino, base_, kFileMax + 4096);
    ASSERT_TRUE(got.has_value()) << got.error().message;
    ASSERT_EQ(got->size(), file.size);
    for (std::uint64_t cell = 0; (cell + 1) * kCell <= file.size; ++cell) {
      ASSERT_TRUE(got->compare(cell * kCell, kCell,
                               cell_bytes(file.ino.value(), cell, file.cells[cell].now)) == 0)
          << "inode " << file.ino.value() << " byte " << cell * kCell << " should be of write "
          << file.cells[cell].now << ": " << describe(file, cell, got->substr(cell * kCell, kCell));
    }
    note_change(file);
  }

  // Size and contents belong to one value of change.
  void note_change(FileModel& file) {
    const Attributes attributes = world_.attributes(file.ino);
    ASSERT_EQ(attributes.size_bytes, file.size == 0 ? 0 : base_ + file.size);
    std::uint64_t hash = file.size;
    // Behind the end there are cells of writes that were sent and never landed.
    const std::uint64_t cells = std::min<std::uint64_t>(file.cells.size(), file.size / kCell);
    for (std::uint64_t i = 0; i < cells; ++i) hash = mix(hash ^ file.cells[i].now);
    const auto [it, fresh] = file.seen.emplace(attributes.change, hash);
    ASSERT_EQ(it->second, hash) << "inode " << file.ino.value() << ": change " << attributes.change
                                << " stands for two contents";
  }

  void observe(FileModel& file) {
    drain(file);
    note_change(file);
  }

  void crash() {
    dying_ = true;
    if (random_.below(2) == 0) {
      world_.lose_power();
    } else {
      world_.kill();
    }
    collect();
    dying_ = false;
    world_.start();
    world_.check_records();
    for (auto& [ino, file] : files_) resync(file);
  }

  // After a crash: accepts what is there now if it is allowed, and takes it into the model.
  void resync(FileModel& file) {
    file.in_flight.clear();
    const auto got = world_.read(file.ino, base_, kFileMax + 4096);
    ASSERT_TRUE(got.has_value()) << got.error().message;
    ASSERT_GE(got->size(), file.durable_size) << "inode " << file.ino.value();
    ASSERT_LE(got->size(), file.size_most) << "inode " << file.ino.value();
    file.size = file.durable_size = file.size_most = got->size();
    for (std::uint64_t cell = 0; cell < file.cells.size(); ++cell) {
      Cell& c = file.cells[cell];
      if (cell * kCell >= file.size) {
        c = Cell{.ever = std::move(c.ever)};
        continue;
      }
      const std::string bytes = got->substr(cell * kCell, kCell);
      std::optional<WriteNumber> found;
      if (bytes == cell_bytes(file.ino.value(), cell, c.durable)) found = c.durable;
      for (const WriteNumber n : c.may) {
        if (!found && bytes == cell_bytes(file.ino.value(), cell, n)) found = n;
      }
      ASSERT_TRUE(found.has_value())
          << "inode " << file.ino.value() << " byte " << cell * kCell << " was durable of write "
          << c.durable << ": " << describe(file, cell, bytes);
      c.now = c.durable = *found;
      c.may.clear();
    }
    note_change(file);
  }

  env::SeededRandom random_;
  FileWorld world_;
  std::map<std::uint64_t, FileModel> files_;
  std::uint64_t last_ino_ = 10;
  WriteNumber last_write_ = 0;
  const std::uint64_t base_;
  bool dying_ = false;
};

int environment(const char* name, int fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::atoi(text);
}

void run_seeds(std::uint64_t base, Model::Store store = Model::Store::kSound) {
  const int only = environment("MODEL_SEED", 0);
  const int seeds = environment("MODEL_SEEDS", 12);
  const int operations = environment("MODEL_OPERATIONS", 400);
  for (int seed = only > 0 ? only : 1; seed <= (only > 0 ? only : seeds); ++seed) {
    SCOPED_TRACE("MODEL_SEED=" + std::to_string(seed));
    Model model(static_cast<std::uint64_t>(seed), base, store);
    model.run(operations);
    if (::testing::Test::HasFailure()) {
      std::printf("replay: MODEL_SEED=%d MODEL_OPERATIONS=%d fs_data_model_test\n", seed,
                  operations);
      return;
    }
  }
}

TEST(FileDataModel, RandomOperationsAndCrashes) { run_seeds(0); }
// The boundary of two map chunks lies in the middle.
TEST(FileDataModel, RandomOperationsAndCrashesAcrossMapChunks) { run_seeds(61 << 20); }

// The store refuses at random, loses and repeats requests, and ends watches: its answers differ,
// the contents do not.
TEST(FileDataModel, RandomOperationsOnAFaultyStore) { run_seeds(61 << 20, Model::Store::kFaulty); }

}  // namespace
}  // namespace symnas::fs::test

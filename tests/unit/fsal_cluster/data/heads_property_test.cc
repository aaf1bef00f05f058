// Three mounts and their clients on the sectors of one file, with size changes behind these sectors
// and mounts that die. There must be one order of events that explains every answer about each
// sector.
#include <algorithm>
#include <mutex>
#include <thread>

#include "tests/support/register_history.h"
#include "tests/unit/fsal_cluster/data/heads_world.h"

namespace symnas::fs::test {
namespace {

using ::symnas::test::RegisterHistory;

constexpr Ino kFile{20};
constexpr std::uint64_t kSector = 512;
constexpr std::uint64_t kSectors = 64;  // sectors with a history, at the beginning of the file
constexpr std::uint64_t kTop = 64;      // sectors behind them that grow and shrink

std::string sectors_of(const std::vector<std::uint64_t>& values) {
  std::string out;
  for (const std::uint64_t value : values) {
    std::string sector(kSector, '\0');
    for (std::size_t at = 0; at < kSector; at += sizeof value)
      std::memcpy(sector.data() + at, &value, sizeof value);
    out += sector;
  }
  return out;
}

class HeadsProperty : public ::testing::Test {
 protected:
  static std::int64_t now_ns() { return env::system_clock().mono_ns(); }

  void write(Head& head, env::Random& random) {
    const std::uint64_t first = random.below(kSectors);
    const std::uint64_t count = 1 + random.below(std::min<std::uint64_t>(16, kSectors - first));
    std::vector<std::uint64_t> values;
    for (std::uint64_t i = 0; i < count; ++i) values.push_back(++newest_);
    const std::int64_t start = now_ns();
    const Status written =
        head.write(kFile, first * kSector, sectors_of(values),
                   random.below(3) == 0 ? WriteStability::kFileSync : WriteStability::kUnstable);
    const std::int64_t end = written ? now_ns() : RegisterHistory::kNever;
    const std::scoped_lock lock(mutex_);
    for (std::uint64_t i = 0; i < count; ++i)
      histories_[first + i].add_write(values[i], start, end);
  }
  void read(Head& head, env::Random& random) {
    const std::uint64_t first = random.below(kSectors);
    const std::uint64_t count = 1 + random.below(std::min<std::uint64_t>(16, kSectors - first));
    const std::int64_t start = now_ns();
    const Result<std::string> bytes = head.read(kFile, first * kSector, count * kSector);
    const std::int64_t end = now_ns();
    if (!bytes) return;  // its mount has died
    ASSERT_EQ(bytes->size(), count * kSector);
    const std::scoped_lock lock(mutex_);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, bytes->data() + i * kSector, sizeof value);
      ASSERT_EQ(bytes->substr(i * kSector, kSector), sectors_of({value})) << "a torn sector";
      histories_[first + i].add_read(value, start, end);
    }
  }
  void one(Head& head, env::Random& random) {
    switch (random.below(12)) {
      case 0: static_cast<void>(head.commit(kFile)); break;
      case 1:
        static_cast<void>(head.set_size(kFile, (kSectors + random.below(kTop)) * kSector));
        break;
      case 2:  // growth, also from the middle of a block
        static_cast<void>(head.write(kFile, kSectors * kSector + random.below(kTop * kSector),
                                     std::string(1 + random.below(3000), 'x')));
        break;
      case 3:
      case 4:
      case 5:
      case 6: write(head, random); break;
      default: read(head, random); break;
    }
  }

  HeadsWorld heads_{3};
  std::mutex mutex_;
  std::vector<RegisterHistory> histories_{kSectors};
  std::atomic<std::uint64_t> newest_{0};
};

TEST_F(HeadsProperty, EverySectorIsOneRegister) {
  heads_[0].create(kFile);
  ASSERT_TRUE(
      heads_[0].write(kFile, 0, std::string(kSectors * kSector, '\0'), WriteStability::kFileSync));
  env::SeededRandom fate(7);
  for (int round = 0; round < 6; ++round) {
    std::vector<std::thread> clients;
    for (std::size_t head = 0; head < heads_.size(); ++head) {
      for (int client = 0; client < 2; ++client) {
        clients.emplace_back([&, head, client] {
          env::SeededRandom random(static_cast<std::uint64_t>(round) * 100 + head * 10 +
                                   static_cast<std::uint64_t>(client));
          for (int i = 0; i < 60; ++i) one(heads_[head], random);
        });
      }
    }
    for (std::thread& client : clients) client.join();
    heads_.replace(fate.below(heads_.size()), fate);
  }
  env::SeededRandom random(1);
  for (std::size_t head = 0; head < heads_.size(); ++head) {
    for (int i = 0; i < 40; ++i) read(heads_[head], random);
  }
  for (std::size_t sector = 0; sector < kSectors; ++sector) {
    const auto violation = histories_[sector].violation();
    EXPECT_FALSE(violation) << "sector " << sector << ": " << violation.value_or("");
  }
}

}  // namespace
}  // namespace symnas::fs::test

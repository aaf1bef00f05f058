// FileWorld: a filesystem of plain files for tests of FileData: store and disk in memory, timers
// run by hand, instances that die.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/env/clock.h"
#include "common/env/random.h"
#include "common/kv/mem/mem_store.h"
#include "common/kv/session.h"
#include "fsal_cluster/data/data_path.h"
#include "fsal_cluster/schema/records.pb.h"
#include "tests/support/sim_volume.h"
#include "tests/unit/fsal_cluster/ops/spy_session.h"

namespace symnas::fs::test {

// Time that the test moves by hand, read by several threads. Real time may run on top of it: the
// retries of a session wait for it.
class TestClock final : public env::Clock {
 public:
  std::int64_t mono_ns() const override {
    return now_ns_.load() + (runs_ ? env::system_clock().mono_ns() : 0);
  }
  std::int64_t wall_ns() const override { return mono_ns(); }
  // REQUIRES: called before any thread reads the clock.
  void run() { runs_ = true; }
  void advance_ns(std::int64_t delta_ns) { now_ns_ += delta_ns; }

 private:
  std::atomic<std::int64_t> now_ns_{1'000'000'000'000};
  bool runs_ = false;
};

// Jobs run when the test says so.
class ManualBackground final : public Background {
 public:
  explicit ManualBackground(const env::Clock& clock) : clock_(clock) {}
  void post(std::function<void()> job) override { post_at(0, std::move(job)); }
  void post_at(std::int64_t mono_ns, std::function<void()> job) override;
  void stop() override;
  bool run_one_due();

 private:
  const env::Clock& clock_;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::multimap<std::int64_t, std::function<void()>> jobs_;
  bool running_ = false;
  bool stopped_ = false;
};

// Bytes that count up from `seed` and begin again after 61.
std::string pattern(std::size_t bytes, char seed);

struct WorldOptions {
  std::uint64_t volume_bytes = 16 << 20;
  std::uint64_t group_blocks = 1024;
  ::symnas::test::SimVolume::Mode mode = ::symnas::test::SimVolume::Mode::kImmediate;
  std::uint64_t seed = 1;
  std::optional<kv::FaultWeights> store_faults;  // drawn from the seed; none: what faults() is told
};

class FileWorld {
 public:
  static constexpr FsId kFs{7};
  static constexpr std::byte kPoison{0xEE};

  explicit FileWorld(WorldOptions options = {});
  ~FileWorld();

  // Starts the next instance (mount ids count from 1). Its recovery of ended mounts is done.
  void start();
  // The instance dies at once: queued I/O lands by chance, nothing else of it happens, and its end
  // record is written.
  void kill();
  // As kill(); the disk loses what is in its cache.
  void lose_power();
  void close_cleanly();

  Handle create(Ino ino, std::uint32_t mode = 0644);
  Handle handle(Ino ino) const { return {kFs, ino, Generation{ino.value() + 100}}; }
  records::Inode inode(Ino ino);
  Attributes attributes(Ino ino);

  // Blocking forms; queued I/O and timers run meanwhile.
  Status write(Ino ino, std::uint64_t offset, const std::string& bytes,
               WriteStability wanted = WriteStability::kUnstable);
  Result<std::string> read(Ino ino, std::uint64_t offset, std::size_t bytes);
  Status commit(Ino ino);
  Status set_size(Ino ino, std::uint64_t size_bytes);
  Status allocate(Ino ino, std::uint64_t offset, std::uint64_t bytes);
  Status deallocate(Ino ino, std::uint64_t offset, std::uint64_t bytes);
  Result<std::optional<Sought>> seek(Ino ino, std::uint64_t offset, Content content);
  Status set_mtime(Ino ino, std::int64_t mtime_ns);
  // Runs `edit` on the inode record in a transaction of its own, as SETATTR does.
  void change_inode(Ino ino, const std::function<void(records::Inode&)>& edit);
  Status remove(Ino ino);
  // Runs `call` on a thread of its own, and everything else on this one until `call` returns.
  void while_pumping(const std::function<void()>& call);
  // Performs queued I/O and due jobs until there is nothing to do.
  void settle();
  bool step();
  // Moves time in steps of a tick.
  void pass_ns(std::int64_t span_ns);

  // Reads every record and fails the test unless maps, reverse map and counts agree; returns mapped
  // blocks.
  std::uint64_t check_records();
  // Keys in the store that begin so.
  std::size_t keys_with(const std::string& prefix);
  // Whether this mount has a token of the file in the store.
  bool has_token(Ino ino);

  DataPath& data() { return *data_; }
  ::symnas::test::SimVolume& volume() { return *volume_; }
  kv::MemServer& server() { return *server_; }
  SpySession& session() { return *session_; }
  std::shared_ptr<kv::ScriptedFaults> faults() { return faults_; }
  void stop_store_faults() {
    if (seeded_faults_) seeded_faults_->stop();
  }
  ::symnas::test::SimDisk& disk() { return *disk_; }
  TestClock& clock() { return clock_; }
  env::Random& random() { return random_; }
  bool failed() const { return failed_; }
  // Mutations of this instance so far.
  std::size_t mutations() const { return session_->mutations().size(); }
  MountId mount() const { return MountId{mounts_}; }

 private:
  void end_mount();

  const WorldOptions options_;
  TestClock clock_;
  env::SeededRandom random_;
  std::shared_ptr<kv::MemServer> server_;
  std::shared_ptr<kv::ScriptedFaults> faults_;
  std::shared_ptr<kv::SeededFaults> seeded_faults_;
  std::shared_ptr<::symnas::test::SimDisk> disk_;
  std::unique_ptr<kv::MemStore> store_;
  std::unique_ptr<SpySession> session_;
  std::shared_ptr<::symnas::test::SimVolume> volume_;
  std::shared_ptr<ManualBackground> background_;
  std::unique_ptr<DataPath> data_;
  std::uint64_t mounts_ = 0;
  std::atomic<bool> failed_{false};
};

}  // namespace symnas::fs::test

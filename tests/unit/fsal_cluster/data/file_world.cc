#include "tests/unit/fsal_cluster/data/file_world.h"

#include <chrono>
#include <future>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/stamp.h"
#include "tests/unit/fsal_cluster/data/file_world_check.h"

namespace symnas::fs::test {

namespace keys = kv::keys;
using ::symnas::test::SimDisk;
using ::symnas::test::SimVolume;

std::string pattern(std::size_t bytes, char seed) {
  std::string out(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<char>(seed + i % 61);
  return out;
}

void ManualBackground::post_at(std::int64_t mono_ns, std::function<void()> job) {
  const std::scoped_lock lock(mutex_);
  if (!stopped_) jobs_.emplace(mono_ns, std::move(job));
}

void ManualBackground::stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  jobs_.clear();
  idle_.wait(lock, [this] { return !running_; });
}

bool ManualBackground::run_one_due() {
  std::function<void()> job;
  {
    const std::scoped_lock lock(mutex_);
    if (jobs_.empty() || jobs_.begin()->first > clock_.mono_ns()) return false;
    job = std::move(jobs_.begin()->second);
    jobs_.erase(jobs_.begin());
    running_ = true;
  }
  job();
  job = nullptr;
  const std::scoped_lock lock(mutex_);
  running_ = false;
  idle_.notify_all();
  return true;
}

namespace {
// The data path owns its Background; through this class the world can still reach it.
class SharedBackground final : public Background {
 public:
  explicit SharedBackground(std::shared_ptr<ManualBackground> jobs) : jobs_(std::move(jobs)) {}
  void post(std::function<void()> job) override { jobs_->post(std::move(job)); }
  void post_at(std::int64_t mono_ns, std::function<void()> job) override {
    jobs_->post_at(mono_ns, std::move(job));
  }
  void stop() override { jobs_->stop(); }

 private:
  const std::shared_ptr<ManualBackground> jobs_;
};
}  // namespace

FileWorld::FileWorld(WorldOptions options)
    : options_(options),
      random_(options.seed),
      server_(std::make_shared<kv::MemServer>()),
      faults_(std::make_shared<kv::ScriptedFaults>()),
      disk_(std::make_shared<SimDisk>(options.volume_bytes, kPoison)) {
  if (options.store_faults) {
    clock_.run();
    seeded_faults_ = std::make_shared<kv::SeededFaults>(options.seed, *options.store_faults);
  }
  start();
}

FileWorld::~FileWorld() {
  if (data_) kill();
}

void FileWorld::start() {
  ++mounts_;
  kv::MemStoreOptions store;
  store.server = server_;
  kv::MemStore faultless(store);
  store.faults = faults_;
  if (seeded_faults_) store.faults = seeded_faults_;
  store_ = std::make_unique<kv::MemStore>(store);
  records::MountRecord record;
  record.set_head("head1");
  const std::string mount_key = keys::mount(kFs, MountId{mounts_});
  kv::Txn claim;
  claim.success = {kv::put(mount_key, record.SerializeAsString()),
                   kv::put(keys::stamp(kFs), encode_stamp(clock_.wall_ns()))};
  const auto claimed = kv::txn_blocking(faultless, claim, 1000);
  CHECK(claimed.has_value());
  kv::SessionOptions session;
  session.session_id = "s";
  session.slot_prefix = keys::mount_slots(kFs, MountId{mounts_});
  session.watched = keys::watched(kFs);
  session.stamp_key = keys::stamp(kFs);
  session.mount_key = mount_key;
  session.mount_create_revision = claimed->revision;
  session.ended_key = keys::mount_ended(kFs, MountId{mounts_});
  auto opened = kv::Session::open(
      *store_, clock_, session, [](Error) {}, 10'000);
  CHECK(opened.has_value(), opened ? "" : opened.error().message);
  session_ = std::make_unique<SpySession>(std::move(*opened));
  volume_ = std::make_shared<SimVolume>(disk_, options_.mode);
  background_ = std::make_shared<ManualBackground>(clock_);
  auto background = std::make_unique<SharedBackground>(background_);
  FileDataOptions data;
  data.fs = kFs;
  data.mount = MountId{mounts_};
  data.block_bytes = kBlockBytes;
  data.group_blocks = options_.group_blocks;
  data.on_failed_flush = [this](Error) { failed_ = true; };
  auto path = DataPath::open(*session_, clock_, volume_, std::move(background), data);
  CHECK(path.has_value(), path ? "" : path.error().message);
  data_ = std::move(*path);
  failed_ = false;
  for (std::uint64_t ended = 1; ended < mounts_; ++ended) {
    Status recovered;
    while_pumping([&] { recovered = data_->recover_ended_mount(MountId{ended}); });
    CHECK(recovered.has_value(), recovered ? "" : recovered.error().message);
  }
  std::vector<std::pair<Ino, records::Orphan>> orphans;
  const auto range = session_->range(kv::prefix_range(keys::orphans(kFs)), 0);
  CHECK(range.has_value());
  for (const kv::KeyValue& kv : range->kvs) {
    records::Orphan orphan;
    CHECK(orphan.ParseFromString(kv.value));
    const Status swept = data_->sweep_orphan(Ino{read_be64(kv.key, kv.key.size() - 8)}, orphan);
    CHECK(swept.has_value(), swept ? "" : swept.error().message);
  }
}

void FileWorld::end_mount() {
  kv::Txn end;
  records::EndRecord record;
  record.set_by("test");
  end.success = {kv::put(keys::mount_ended(kFs, MountId{mounts_}), record.SerializeAsString()),
                 kv::put(keys::stamp(kFs), encode_stamp(clock_.wall_ns()))};
  kv::MemStoreOptions options;
  options.server = server_;
  kv::MemStore store(options);
  CHECK(kv::txn_blocking(store, end, 1000).has_value());
}

void FileWorld::kill() {
  end_mount();  // first: what the dying instance still sends must not commit
  volume_->die(random_);
  std::atomic<bool> gone{false};
  std::thread ending([&] {
    data_.reset();
    gone = true;
  });
  while (!gone) {
    if (background_->run_one_due()) continue;
    clock_.advance_ns(10'000);
    std::this_thread::yield();
  }
  ending.join();
  session_.reset();
  store_.reset();
}

void FileWorld::lose_power() {
  kill();
  disk_->lose_power(random_);
}

void FileWorld::close_cleanly() {
  while_pumping([&] { EXPECT_TRUE(data_->flush_all().has_value()); });
  settle();
  kill();
}

Handle FileWorld::create(Ino ino, std::uint32_t mode) {
  records::Inode inode;
  inode.set_type(static_cast<std::uint32_t>(FileType::kRegular));
  inode.set_mode(mode);
  inode.set_nlink(1);
  inode.set_generation(handle(ino).generation.value());
  const std::int64_t now_ns = session_->next_time_ns();
  inode.set_mtime_ns(now_ns);
  inode.set_ctime_ns(now_ns);
  for (;;) {
    kv::Mutation mutation;
    mutation.compares.push_back(kv::key_absent(keys::inode(kFs, ino)));
    mutation.writes.push_back(kv::put(keys::inode(kFs, ino), inode.SerializeAsString()));
    for (kv::Op& op : data_->tokens_at_create(ino)) mutation.writes.push_back(std::move(op));
    const auto committed = session_->commit_blocking(std::move(mutation));
    CHECK(committed.has_value());
    if (committed->succeeded) break;
  }
  data_->created(ino);
  return handle(ino);
}

records::Inode FileWorld::inode(Ino ino) {
  records::Inode out;
  const auto value = session_->read(keys::inode(kFs, ino));
  CHECK(value.has_value());
  if (value->value) CHECK(out.ParseFromString(*value->value));
  return out;
}

Attributes FileWorld::attributes(Ino ino) {
  Attributes out;
  const auto [record, overlay] =
      read_consistent(*data_, ino, [&] { return session_->read(keys::inode(kFs, ino)); });
  CHECK(record && record->value);
  records::Inode inode;
  CHECK(inode.ParseFromString(*record->value));
  show(inode, record->mod_revision, overlay, kBlockBytes, out);
  return out;
}

bool FileWorld::step() {
  if (volume_->run_one(random_)) return true;
  return background_->run_one_due();
}

void FileWorld::settle() {
  while (step()) {
  }
}

void FileWorld::while_pumping(const std::function<void()>& call) {
  std::atomic<bool> done{false};
  std::thread thread([&] {
    call();
    done = true;
  });
  while (!done) {
    if (step()) continue;
    std::this_thread::yield();
    if (!done) clock_.advance_ns(10'000);  // waits for time
  }
  thread.join();
}

void FileWorld::pass_ns(std::int64_t span_ns) {
  for (std::int64_t passed = 0; passed < span_ns; passed += kTickNs) {
    clock_.advance_ns(kTickNs);
    settle();
  }
}

Status FileWorld::write(Ino ino, std::uint64_t offset, const std::string& bytes,
                        WriteStability wanted) {
  std::optional<Status> answer;
  data_->write(handle(ino), FileOffset{offset}, std::as_bytes(std::span(bytes)), wanted,
               [&](Result<WriteResult> result) {
                 answer = result ? Status() : tl::unexpected(result.error());
               });
  while (!answer) {
    if (!step()) clock_.advance_ns(kRoomPollMs * 1'000'000);
  }
  return *answer;
}

Result<std::string> FileWorld::read(Ino ino, std::uint64_t offset, std::size_t bytes) {
  std::optional<Result<std::string>> answer;
  data_->read(handle(ino), FileOffset{offset}, bytes, [&](Result<ReadResult> result) {
    if (!result) {
      answer = tl::unexpected(result.error());
      return;
    }
    std::string out(result->bytes, '\0');
    if (result->bytes > 0) {
      std::memcpy(out.data(), result->buffer.data() + result->offset_bytes, result->bytes);
    }
    answer = std::move(out);
  });
  while (!answer) {
    if (!step()) clock_.advance_ns(1'000'000);
  }
  return *answer;
}

Status FileWorld::commit(Ino ino) {
  std::optional<Status> answer;
  data_->commit(handle(ino), [&](Status status) { answer = std::move(status); });
  while (!answer) {
    if (!step()) clock_.advance_ns(1'000'000);
  }
  return *answer;
}

Status FileWorld::set_size(Ino ino, std::uint64_t size_bytes) {
  Status out;
  while_pumping([&] {
    const auto committed = data_->set_size(handle(ino), size_bytes, MtimeIs::kOfTheChange, nullptr);
    if (!committed) out = tl::unexpected(committed.error());
  });
  return out;
}

Status FileWorld::allocate(Ino ino, std::uint64_t offset, std::uint64_t bytes) {
  Status out;
  while_pumping([&] { out = data_->allocate(handle(ino), FileOffset{offset}, bytes); });
  return out;
}

Status FileWorld::deallocate(Ino ino, std::uint64_t offset, std::uint64_t bytes) {
  Status out;
  while_pumping([&] { out = data_->deallocate(handle(ino), FileOffset{offset}, bytes); });
  return out;
}

Result<std::optional<Sought>> FileWorld::seek(Ino ino, std::uint64_t offset, Content content) {
  Result<std::optional<Sought>> out;
  while_pumping([&] { out = data_->seek(handle(ino), FileOffset{offset}, content); });
  return out;
}

Status FileWorld::set_mtime(Ino ino, std::int64_t mtime_ns) {
  Status out;
  while_pumping([&] {
    const auto committed = data_->set_times(handle(ino), [&](records::Inode& inode) {
      inode.set_mtime_ns(mtime_ns);
      inode.set_ctime_ns(session_->next_time_ns());
      return Status();
    });
    if (!committed) out = tl::unexpected(committed.error());
  });
  return out;
}

void FileWorld::change_inode(Ino ino, const std::function<void(records::Inode&)>& edit) {
  for (;;) {
    const auto value = session_->read(keys::inode(kFs, ino));
    records::Inode inode;
    CHECK(value && value->value && inode.ParseFromString(*value->value));
    edit(inode);
    inode.set_ctime_ns(session_->next_time_ns());
    kv::Mutation mutation;
    mutation.compares.push_back(kv::mod_revision_is(keys::inode(kFs, ino), value->mod_revision));
    mutation.writes.push_back(kv::put(keys::inode(kFs, ino), inode.SerializeAsString()));
    const auto committed = session_->commit_blocking(std::move(mutation));
    CHECK(committed.has_value());
    if (committed->succeeded) return;
  }
}

Status FileWorld::remove(Ino ino) {
  Status out;
  while_pumping([&] {
    for (;;) {
      const auto value = session_->read(keys::inode(kFs, ino));
      records::Inode inode;
      CHECK(value && value->value && inode.ParseFromString(*value->value));
      auto plan = data_->plan_removal(handle(ino), inode);
      if (!plan) {
        out = tl::unexpected(plan.error());
        return;
      }
      kv::Mutation mutation;
      mutation.compares = plan->compares;
      mutation.writes = plan->writes;
      mutation.compares.push_back(kv::mod_revision_is(keys::inode(kFs, ino), value->mod_revision));
      mutation.writes.push_back(kv::erase(keys::inode(kFs, ino)));
      const auto committed = session_->commit_blocking(std::move(mutation));
      if (committed && committed->succeeded) {
        data_->removed(std::move(*plan));
        return;
      }
      data_->abandoned(std::move(*plan));
      if (!committed) {
        out = tl::unexpected(committed.error());
        return;
      }
    }
  });
  return out;
}

std::size_t FileWorld::keys_with(const std::string& prefix) {
  std::size_t count = 0;
  for (const kv::KeyValue& kv : server_->dump()) count += kv.key.starts_with(prefix) ? 1 : 0;
  return count;
}

bool FileWorld::has_token(Ino ino) { return keys_with(keys::token(kFs, ino, mount())) > 0; }

std::uint64_t FileWorld::check_records() {
  std::map<std::uint64_t, std::uint64_t> mapped;   // volume block -> blocks, from maps
  std::map<std::uint64_t, std::uint64_t> reverse;  // from the reverse map
  std::map<std::uint64_t, records::Inode> inodes;
  std::map<std::uint64_t, std::uint64_t> used;
  const std::string inode_table = keys::table(kFs, 'w', 'I');
  const std::string map_table = keys::table(kFs, 'w', 'M');
  const std::string reverse_table = keys::table(kFs, 'u', 'R');
  const auto take = [&](std::uint64_t ino, std::uint64_t file_block, const auto& extents) {
    for (const records::Extent& e : extents) {
      EXPECT_TRUE(mapped.emplace(e.volume_block(), e.blocks()).second)
          << "block " << e.volume_block() << " mapped twice, inode " << ino;
      used[ino] += e.blocks();
      (void)file_block;
    }
  };
  for (const kv::KeyValue& kv : server_->dump()) {
    if (kv.key.starts_with(inode_table)) {
      records::Inode inode;
      CHECK(inode.ParseFromString(kv.value));
      const std::uint64_t ino = read_be64(kv.key, inode_table.size());
      inodes[ino] = inode;
      if (inode.chunked()) {
        EXPECT_EQ(inode.extents_size(), 0);
      }
      take(ino, 0, inode.extents());
    } else if (kv.key.starts_with(map_table)) {
      records::MapChunk chunk;
      CHECK(chunk.ParseFromString(kv.value));
      const std::uint64_t ino = read_be64(kv.key, map_table.size());
      take(ino, 0, chunk.extents());
    } else if (kv.key.starts_with(reverse_table)) {
      records::ReverseMap record;
      CHECK(record.ParseFromString(kv.value));
      reverse[read_be64(kv.key, reverse_table.size() + 4)] = record.blocks();
    }
  }
  EXPECT_EQ(mapped, reverse);
  std::uint64_t end = 0;
  std::uint64_t sum = 0;
  for (const auto& [start, blocks] : mapped) {
    EXPECT_GE(start, end) << "extents overlap at volume block " << start;
    end = start + blocks;
    sum += blocks;
  }
  EXPECT_LE(end, options_.volume_bytes / kBlockBytes);
  for (const auto& [ino, inode] : inodes) {
    if (inode.has_trim_block()) continue;
    EXPECT_EQ(inode.used_blocks(), used[ino]) << "inode " << ino;
  }
  expect_consistent(server_->dump(), options_);
  return sum;
}

}  // namespace symnas::fs::test

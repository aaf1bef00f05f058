// Many threads on few files, with real timers and a volume whose callbacks come on threads of its
// own: what the model test cannot see. Built with the thread sanitizer it looks for races; without
// it for hangs and wrong bytes.
#include <atomic>
#include <cstring>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "common/base/check.h"
#include "common/kv/keys.h"
#include "common/kv/mem/mem_store.h"
#include "fsal_cluster/data/data_path.h"
#include "fsal_cluster/schema/stamp.h"
#include "tests/support/sim_volume.h"

namespace symnas::fs::test {
namespace {

using ::symnas::test::SimDisk;
using ::symnas::test::SimVolume;
namespace keys = kv::keys;
constexpr FsId kFs{7};
constexpr int kClients = 4;
constexpr int kFiles = 3;
constexpr std::uint64_t kSlice = 64 << 10;  // each client owns every kClients-th slice of a file

class Stress : public ::testing::Test {
 protected:
  Stress() : disk_(std::make_shared<SimDisk>(32 << 20, std::byte{0xEE})) {
    kv::MemStoreOptions store;
    store.scheduler = std::make_shared<kv::ThreadScheduler>();
    store_ = std::make_unique<kv::MemStore>(store);
    kv::Txn claim;
    claim.success = {kv::put(keys::mount(kFs, MountId{1}), "mount"),
                     kv::put(keys::stamp(kFs), encode_stamp(1))};
    const auto claimed = kv::txn_blocking(*store_, claim, 5000);
    CHECK(claimed.has_value());
    kv::SessionOptions options;
    options.session_id = "s1";
    options.slot_prefix = keys::slot_prefix(kFs);
    options.watched = keys::watched(kFs);
    options.stamp_key = keys::stamp(kFs);
    options.mount_key = keys::mount(kFs, MountId{1});
    options.mount_create_revision = claimed->revision;
    options.ended_key = keys::mount_ended(kFs, MountId{1});
    auto session = kv::Session::open(
        *store_, env::system_clock(), options, [](Error) {}, 5000);
    CHECK(session.has_value());
    session_ = std::move(*session);
    volume_ = std::make_shared<SimVolume>(disk_, SimVolume::Mode::kQueued);
    for (int i = 0; i < 2; ++i) {
      pumps_.emplace_back([this, i] {
        env::SeededRandom random(static_cast<std::uint64_t>(i) + 1);
        while (!stop_) {
          if (!volume_->run_one(random)) std::this_thread::yield();
        }
      });
    }
    FileDataOptions data;
    data.fs = kFs;
    data.mount = MountId{1};
    data.group_blocks = 1024;
    auto opened = FileData::open(*session_, env::system_clock(), volume_, data);
    CHECK(opened.has_value());
    data_ = std::move(*opened);
    for (std::uint64_t i = 1; i <= kFiles; ++i) create(Ino{i});
  }
  ~Stress() override {
    data_.reset();
    stop_ = true;
    for (std::thread& pump : pumps_) pump.join();
    session_.reset();
  }

  Handle handle(Ino ino) const { return {kFs, ino, Generation{1}}; }
  void create(Ino ino) {
    records::Inode inode;
    inode.set_type(static_cast<std::uint32_t>(FileType::kRegular));
    inode.set_nlink(1);
    inode.set_generation(1);
    kv::Mutation mutation;
    mutation.writes = data_->tokens_at_create(ino);
    mutation.writes.push_back(kv::put(keys::inode(kFs, ino), inode.SerializeAsString()));
    CHECK(session_->commit_blocking(std::move(mutation))->succeeded);
    data_->created(ino);
  }
  Status write(Ino ino, std::uint64_t at, const std::string& bytes, WriteStability wanted) {
    std::promise<Status> answer;
    data_->write(handle(ino), FileOffset{at}, std::as_bytes(std::span(bytes)), wanted,
                 [&](Result<WriteResult> result) {
                   answer.set_value(result ? Status() : tl::unexpected(result.error()));
                 });
    return answer.get_future().get();
  }
  std::string read(Ino ino, std::uint64_t at, std::size_t bytes) {
    std::promise<std::string> answer;
    data_->read(handle(ino), FileOffset{at}, bytes, [&](Result<ReadResult> result) {
      std::string out;
      if (result && result->bytes > 0) {
        out.assign(reinterpret_cast<const char*>(result->buffer.data()) + result->offset_bytes,
                   result->bytes);
      }
      answer.set_value(std::move(out));
    });
    return answer.get_future().get();
  }
  Status commit(Ino ino) {
    std::promise<Status> answer;
    data_->commit(handle(ino), [&](Status status) { answer.set_value(std::move(status)); });
    return answer.get_future().get();
  }

  void client(int number, int operations) {
    env::SeededRandom random(static_cast<std::uint64_t>(number) + 100);
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> mine;
    for (int i = 0; i < operations; ++i) {
      const std::uint64_t file = 1 + random.below(kFiles);
      const std::uint64_t slice = random.below(8) * kClients + static_cast<std::uint64_t>(number);
      const std::uint64_t base = slice * kSlice;
      std::string& content = mine[{file, slice}];
      switch (random.below(8)) {
        case 0: EXPECT_TRUE(commit(Ino{file}).has_value()); break;
        case 1: {
          (void)data_->overlay(Ino{file});
          EXPECT_TRUE(data_->space().has_value());
          break;
        }
        case 2:
        case 3: {
          const std::string got = read(Ino{file}, base, content.size());
          EXPECT_EQ(got, content) << "file " << file << " slice " << slice;
          break;
        }
        default: {
          const std::uint64_t at = random.below(kSlice - 9000);
          const std::string bytes(1 + random.below(9000), static_cast<char>('a' + i % 26));
          if (content.size() < at + bytes.size()) content.resize(at + bytes.size());
          content.replace(at, bytes.size(), bytes);
          const auto wanted =
              random.below(3) == 0 ? WriteStability::kFileSync : WriteStability::kUnstable;
          const Status written = write(Ino{file}, base + at, bytes, wanted);
          EXPECT_TRUE(written.has_value()) << written.error().message;
        }
      }
    }
  }

  const std::shared_ptr<SimDisk> disk_;
  std::unique_ptr<kv::MemStore> store_;
  std::unique_ptr<kv::Session> session_;
  std::shared_ptr<SimVolume> volume_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> pumps_;
  std::unique_ptr<FileData> data_;
};

TEST_F(Stress, ClientsOnDisjointSlicesOfSharedFiles) {
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) clients.emplace_back([this, i] { client(i, 150); });
  std::thread resizer([this] {  // sizes and removals of a file of its own
    for (std::uint64_t i = 0; i < 20; ++i) {
      const Ino ino{100 + i};
      create(ino);
      EXPECT_TRUE(write(ino, 0, std::string(100000, 'r'), WriteStability::kUnstable).has_value());
      EXPECT_TRUE(data_->set_size(handle(ino), 5000, MtimeIs::kOfTheChange, nullptr).has_value());
      EXPECT_EQ(read(ino, 0, 10000), std::string(5000, 'r'));
      const auto value = session_->read(keys::inode(kFs, ino));
      records::Inode inode;
      ASSERT_TRUE(value && value->value && inode.ParseFromString(*value->value));
      auto plan = data_->plan_removal(handle(ino), inode);
      ASSERT_TRUE(plan.has_value());
      if (i % 3 == 0) {
        data_->abandoned(std::move(*plan));
        continue;
      }
      kv::Mutation mutation;
      mutation.compares = {kv::mod_revision_is(keys::inode(kFs, ino), value->mod_revision)};
      mutation.writes = plan->writes;
      mutation.writes.push_back(kv::erase(keys::inode(kFs, ino)));
      const auto committed = session_->commit_blocking(std::move(mutation));
      ASSERT_TRUE(committed.has_value());
      if (committed->succeeded) {
        data_->removed(std::move(*plan));
      } else {
        data_->abandoned(std::move(*plan));
      }
    }
  });
  for (std::thread& thread : clients) thread.join();
  resizer.join();
  EXPECT_TRUE(data_->flush_all().has_value());
}

// A write that is seen after a SETATTR of mtime shows a later time.
TEST_F(Stress, MtimesSetBesideWrites) {
  const Ino ino{1};
  ASSERT_TRUE(write(ino, 0, std::string(8192, 'a'), WriteStability::kFileSync).has_value());
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (std::uint64_t i = 0; i < 2; ++i) {
    writers.emplace_back([&, i] {
      const std::string bytes(512, 'w');
      while (!stop) EXPECT_TRUE(write(ino, i * 4096, bytes, WriteStability::kUnstable).has_value());
    });
  }
  for (std::int64_t mtime_ns = 1; mtime_ns <= 60; ++mtime_ns) {
    std::int64_t set_at_ns = 0;
    const auto edit = [&](records::Inode& inode) {
      set_at_ns = session_->next_time_ns();
      inode.set_mtime_ns(mtime_ns);
      inode.set_ctime_ns(set_at_ns);
      return Status();
    };
    ASSERT_TRUE(mtime_ns % 4 == 0 ? data_->set_size(handle(ino), 8192, MtimeIs::kChosen, edit)
                                  : data_->set_times(handle(ino), edit));
    for (int look = 0; look < 3; ++look) {
      const auto [record, overlay] =
          read_consistent(*data_, ino, [&] { return session_->read(keys::inode(kFs, ino)); });
      records::Inode inode;
      ASSERT_TRUE(record && record->value && inode.ParseFromString(*record->value));
      Attributes shown;
      show(inode, record->mod_revision, overlay, 4096, shown);
      EXPECT_TRUE(shown.mtime_ns == mtime_ns || shown.mtime_ns > set_at_ns)
          << shown.mtime_ns << " after " << mtime_ns << " was set at " << set_at_ns;
    }
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
}

}  // namespace
}  // namespace symnas::fs::test

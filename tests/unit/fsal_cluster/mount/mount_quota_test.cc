// A mount while etcd's quota runs out: what it refuses, and what goes on.
#include <chrono>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/mount_end.h"
#include "tests/support/forwarding_store.h"
#include "tests/support/sim_volume.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using test::SimDisk;
using test::SimVolume;

class MountQuotaTest : public testing::Test {
 protected:
  // Makes the files that the tests begin with, by a mount without a limit.
  void SetUp() override {
    ASSERT_TRUE(open(0));
    for (int i = 0; i < 100; ++i) create("f" + std::to_string(i));
    file = create("file")->attributes.handle;
    ASSERT_TRUE(write(0, std::string(4096, 'a')));
    ASSERT_TRUE(mount->close());
  }
  // Opens the mount with a quota of which the stored data is this share.
  void reopen(double share) {
    const auto bytes = static_cast<double>(formatted.store->status({}).front().db_in_use_bytes);
    ASSERT_TRUE(open(static_cast<std::int64_t>(bytes / share)));
    // The mount does not wait for its first look at the members: so this loop does.
    for (int i = 0; share > 0.8 && i < 5000 && create("early" + std::to_string(i)); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  bool open(std::int64_t quota_bytes) {
    mount.reset();
    MountOptions options = mount_options(formatted.fs, ++epoch);
    options.etcd_quota_bytes = quota_bytes;
    options.on_ended = [](Error error) { FAIL() << error.message; };
    auto opened =
        Mount::open(*formatted.store, env::system_clock(),
                    std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate), options);
    EXPECT_TRUE(opened) << opened.error().message;
    if (opened) mount = std::move(*opened);
    return mount != nullptr;
  }
  Handle root() const { return Handle{formatted.fs, kRootIno, Generation{1}}; }
  Result<Created> create(const std::string& name) {
    return mount->create(kRoot, root(), name, CreateMode::kGuarded, 0, {});
  }
  Status write(std::uint64_t offset, const std::string& bytes) {
    std::promise<Status> outcome;
    mount->write(file, FileOffset{offset}, std::as_bytes(std::span(bytes)),
                 WriteStability::kFileSync, [&](Result<WriteResult> result) {
                   outcome.set_value(result ? Status() : Status(tl::unexpected(result.error())));
                 });
    return outcome.get_future().get();
  }
  Result<Attributes> set(std::optional<std::uint32_t> mode, std::optional<std::uint64_t> size) {
    SetAttributes changes;
    changes.mode = mode;
    changes.size_bytes = size;
    return mount->setattr(kRoot, file, changes);
  }
  static ErrorCode code_of(const Status& status) {
    return status ? ErrorCode::kInternal : status.error().code;
  }
  template <class T>
  static ErrorCode code_of(const Result<T>& result) {
    return result ? ErrorCode::kInternal : result.error().code;
  }

  Formatted formatted;
  std::shared_ptr<SimDisk> disk = std::make_shared<SimDisk>(std::uint64_t{1} << 30, std::byte{0});
  std::uint64_t epoch = 0;
  std::unique_ptr<Mount> mount;
  Handle file;
};

TEST_F(MountQuotaTest, TheReserveIsForWhatDoesNotGrow) {
  reopen(0.85);
  EXPECT_EQ(code_of(create("new")), ErrorCode::kNoSpace);
  EXPECT_EQ(code_of(mount->mkdir(kRoot, root(), "new", {})), ErrorCode::kNoSpace);
  EXPECT_EQ(code_of(mount->link(kRoot, file, root(), "new")), ErrorCode::kNoSpace);
  EXPECT_EQ(code_of(write(8192, std::string(4096, 'b'))), ErrorCode::kNoSpace);
  EXPECT_TRUE(write(0, std::string(4096, 'c')));
  EXPECT_TRUE(set(0600, std::nullopt));
  EXPECT_TRUE(mount->rename(kRoot, root(), "f1", root(), "g1"));
  EXPECT_TRUE(mount->unlink(kRoot, root(), "f2"));
  EXPECT_TRUE(mount->close());
}

TEST_F(MountQuotaTest, AtTheEndOnlyWhatMustGoGoes) {
  reopen(0.95);
  EXPECT_EQ(code_of(create("new")), ErrorCode::kNoSpace);
  EXPECT_EQ(code_of(set(0600, std::nullopt)), ErrorCode::kNoSpace);
  EXPECT_EQ(code_of(mount->rename(kRoot, root(), "f1", root(), "g1")), ErrorCode::kNoSpace);
  EXPECT_TRUE(write(0, std::string(4096, 'c')));
  EXPECT_TRUE(set(std::nullopt, 100));
  EXPECT_TRUE(mount->unlink(kRoot, root(), "f2"));
  EXPECT_TRUE(mount->unlink(kRoot, root(), "file"));
  EXPECT_TRUE(mount->close());
}

// A store with a member that does not answer, like that of a head that has just crashed.
class SilentMember final : public test::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  std::vector<kv::MemberStatus> status(kv::TryOptions options) override {
    over_.get_future().wait();
    return ForwardingStore::status(options);
  }
  void end_question() { over_.set_value(); }

 private:
  std::promise<void> over_;
};

TEST_F(MountQuotaTest, AMemberThatDoesNotAnswerDelaysNothing) {
  mount.reset();
  SilentMember store(*formatted.store);
  MountOptions options = mount_options(formatted.fs, ++epoch);
  options.etcd_quota_bytes = std::int64_t{1} << 30;
  auto opened =
      Mount::open(store, env::system_clock(),
                  std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate), options);
  ASSERT_TRUE(opened) << opened.error().message;
  mount = std::move(*opened);
  EXPECT_TRUE(create("new"));
  store.end_question();
  mount.reset();
}

TEST_F(MountQuotaTest, WithRoomNothingIsRefused) {
  reopen(0.7);
  EXPECT_TRUE(create("new"));
  EXPECT_TRUE(write(8192, std::string(4096, 'b')));
}

}  // namespace
}  // namespace symnas::fs

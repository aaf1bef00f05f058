// A mount whose opening fails while its threads are at work.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "common/base/check.h"
#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/state/mount_end.h"
#include "tests/support/forwarding_store.h"
#include "tests/support/sim_volume.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {
namespace {

using namespace std::chrono_literals;
using test::SimDisk;
using test::SimVolume;

bool has(const kv::Txn& txn, const std::function<bool(const kv::Op&)>& wanted) {
  return std::any_of(txn.success.begin(), txn.success.end(),
                     [&](const kv::Op& op) { return op.txn ? has(*op.txn, wanted) : wanted(op); });
}

bool writes(const kv::Txn& txn, const std::string& key) {
  return has(txn, [&](const kv::Op& op) {
    return op.kind != kv::Op::Kind::kRange && op.range.key == key;
  });
}

// Has no room for what writes one key. Lists of tokens wait until let_go().
class FullStore : public test::ForwardingStore {
 public:
  FullStore(kv::Store& store, FsId fs, std::string refused, std::string noted)
      : ForwardingStore(store),
        tokens_(kv::keys::tokens(fs)),
        refused_(std::move(refused)),
        noted_(std::move(noted)) {}

  void txn(kv::Txn txn, kv::TryOptions options, kv::TxnCallback done) override {
    if (writes(txn, refused_)) {
      done(fail(ErrorCode::kNoSpace, "etcd: database space exceeded"));
      return;
    }
    if (writes(txn, noted_)) seen_ = true;
    const bool lists = has(txn, [this](const kv::Op& op) {
      return op.kind == kv::Op::Kind::kRange && op.limit > 0 && op.range.key == tokens_;
    });
    std::function<void()> go = [this, txn, options, done] {
      ForwardingStore::txn(txn, options, done);
    };
    if (!lists || !keep(go)) go();
  }
  // Whether the noted key was to be written.
  bool seen() const { return seen_; }
  void let_go() {
    std::vector<std::function<void()>> kept;
    {
      const std::scoped_lock lock(mutex_);
      gone_ = true;
      kept.swap(kept_);
    }
    for (const auto& go : kept) go();
  }

 private:
  bool keep(const std::function<void()>& go) {
    const std::scoped_lock lock(mutex_);
    if (!gone_) kept_.push_back(go);
    return !gone_;
  }

  const std::string tokens_;
  const std::string refused_;
  const std::string noted_;
  std::atomic<bool> seen_ = false;
  std::mutex mutex_;
  bool gone_ = false;
  std::vector<std::function<void()>> kept_;
};

class OpeningTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Mount>> open(std::uint32_t vnfs, kv::Store& store) {
    return Mount::open(store, env::system_clock(),
                       std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate),
                       mount_options(formatted.fs, ++epoch, vnfs));
  }
  static Handle made(Mount& mount, const Handle& root, const std::string& name) {
    const auto made = mount.create(kRoot, root, name, CreateMode::kGuarded, 0, {});
    EXPECT_TRUE(made) << made.error().message;
    return made->attributes.handle;
  }
  Handle root() const { return {formatted.fs, kRootIno, Generation{1}}; }
  // A mount that lives, and does nothing.
  void put_idle_mount(MountId id) {
    records::MountRecord record;
    record.set_vnfs("vnfs3");
    put(kv::keys::mount(formatted.fs, id), record.SerializeAsString());
  }
  void put(const std::string& key, const std::string& value) {
    kv::Txn txn;
    txn.success = {kv::put(key, value)};
    ASSERT_TRUE(kv::txn_blocking(*formatted.store, std::move(txn), 5'000));
  }
  // Ends a mount that has the token of a file.
  void kill(std::unique_ptr<Mount> mount, Ino ino) {
    const MountId id = mount->id();
    mount.reset();
    records::TokenRecord token;
    token.set_mode(records::TokenRecord::X);
    token.set_wrote(true);
    put(kv::keys::token(formatted.fs, ino, id), token.SerializeAsString());
    ASSERT_TRUE(end_mount(*formatted.store, env::system_clock(), formatted.fs, id,
                          EndProof{"c1n9", "killed, reaped, OFD locks obtained"}));
  }

  Formatted formatted;
  std::uint64_t epoch = 0;
  std::shared_ptr<SimDisk> disk =
      std::make_shared<SimDisk>(std::uint64_t{64} << 20, std::byte{0xEE});
};

// The token of the orphan would have been recovered after the one that there is no room for.
TEST_F(OpeningTest, EndsThoughARemovalWaitsForATokenThatNobodyRecovers) {
  auto first = open(1, *formatted.store);
  auto second = open(2, *formatted.store);
  ASSERT_TRUE(first && second);
  const Handle file = made(**first, root(), "file");
  const Handle orphan = made(**second, root(), "orphan");
  (*second)->opened(orphan);
  ASSERT_TRUE((*second)->unlink(kRoot, root(), "orphan"));
  FullStore full(*formatted.store, formatted.fs,
                 kv::keys::token(formatted.fs, file.ino, (*first)->id()),
                 kv::keys::want(formatted.fs, orphan.ino));
  kill(std::move(*first), file.ino);
  kill(std::move(*second), orphan.ino);
  put_idle_mount(MountId{99});  // tokens are needed beside it
  auto opening = std::async(std::launch::async, [&] { return open(1, full); });
  while (!full.seen()) std::this_thread::yield();
  EXPECT_EQ(opening.wait_for(100ms), std::future_status::timeout);  // the removal waits by then
  full.let_go();
  CHECK(opening.wait_for(20s) == std::future_status::ready);
  const auto opened = opening.get();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kNoSpace) << opened.error().message;
}

}  // namespace
}  // namespace symnas::fs

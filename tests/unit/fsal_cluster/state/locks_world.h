// FileLocks over an in-memory store, for their tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "common/kv/mem/mem_store.h"
#include "fsal_cluster/state/file_locks.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {

inline constexpr Ino kFile{7};
inline const LockOwner kAnna{LockProtocol::kNfs4, "client a", "anna"};
inline const LockOwner kBert{LockProtocol::kNlm, "client b", "bert"};

inline LockRange exclusive(std::uint64_t start, std::uint64_t end) {
  return {start, end, LockMode::kExclusive};
}

class FileLocksTest : public ::testing::Test {
 protected:
  FileLocksTest() {
    kv::MemStoreOptions options;
    options.server = server_;
    store_ = std::make_unique<kv::MemStore>(options);
    format_for_test(*store_, "u04");
    world_ = std::make_unique<World>(*store_, "u04");
    locks_ = load();
  }
  // Loads the locks as the next mount does.
  std::unique_ptr<FileLocks> load() {
    auto locks = FileLocks::load(world_->session(), env::system_clock(), world_->fs(), "vnfs1");
    EXPECT_TRUE(locks);
    return std::move(*locks);
  }
  bool lock(const LockOwner& owner, const LockRange& range) {
    const auto answer = locks_->lock(kFile, owner, range, false);
    return answer && answer->granted;
  }
  Status unlock(const LockOwner& owner, const LockRange& range, FileLocks::Record when) {
    return locks_->unlock(kFile, owner, range.start, range.end, when);
  }
  static bool is_free(FileLocks& locks, const LockRange& range) {
    const LockOwner somebody{LockProtocol::kNfs4, "client c", "clara"};
    return locks.test(kFile, somebody, range).granted;
  }

  std::shared_ptr<kv::MemServer> server_ = std::make_shared<kv::MemServer>();
  std::unique_ptr<kv::MemStore> store_;
  std::unique_ptr<World> world_;
  std::unique_ptr<FileLocks> locks_;
};

inline const ClientLife kOneLife{0, "11111111"};

class LeaseTest : public FileLocksTest {
 protected:
  std::unique_ptr<FileLocks> load_at(Membership* membership = nullptr, const Gate* gate = nullptr,
                                     const std::string& vnfs = "vnfs1") {
    return std::move(
        *FileLocks::load(world_->session(), clock_, world_->fs(), vnfs, membership, gate));
  }
  void pass_s(std::int64_t seconds) { clock_.advance_ns(seconds * 1'000'000'000); }
  env::ManualClock clock_;
};

}  // namespace symnas::fs

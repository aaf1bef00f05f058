// World: one mounted filesystem for tests of the operations: a store, the real session over it, no
// bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/env/clock.h"
#include "common/kv/keys.h"
#include "common/kv/mem/mem_store.h"
#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/ops/context.h"
#include "tests/unit/fsal_cluster/ops/fake_file_data.h"
#include "tests/unit/fsal_cluster/ops/spy_session.h"

namespace symnas::fs {

inline const Credentials kRoot{0, 0, {}};
inline const Credentials kAlice{1000, 100, {150}};
inline const Credentials kBob{1001, 101, {}};

// An in-memory store with a volume record and the filesystem "u04", which is not mounted.
struct Formatted {
  Formatted();
  // As above; after the format everything suffers faults drawn from the seed.
  Formatted(std::uint64_t seed, kv::FaultWeights weights);
  std::shared_ptr<kv::ScriptedFaults> faults = std::make_shared<kv::ScriptedFaults>();
  std::shared_ptr<kv::SeededFaults> seeded;
  std::unique_ptr<kv::MemStore> store;
  FsId fs;
};
// Makes a volume and the filesystem `name` in any store. Volume records of earlier filesystems are
// left alone.
FsId format_for_test(kv::Store& store, const std::string& name);

// A mount of the filesystem "u04" by the instance of vnfsN (ID N) of that epoch on the head c1nN.
MountOptions mount_options(FsId fs, std::uint64_t epoch, std::uint32_t number = 1);

// What may go wrong with the reply of a commit. The operation must still happen exactly once.
inline constexpr kv::TxnFault::Kind kCommitFaults[] = {
    kv::TxnFault::Kind::kReplyLost,   kv::TxnFault::Kind::kRequestLost,
    kv::TxnFault::Kind::kDuplicate,   kv::TxnFault::Kind::kCommitLate,
    kv::TxnFault::Kind::kUnavailable, kv::TxnFault::Kind::kConflict,
    kv::TxnFault::Kind::kOverQuota};

class World {
 public:
  World();
  // Faults begin when the filesystem is mounted, and end with stop_faults().
  World(std::uint64_t seed, kv::FaultWeights weights);
  // On a store that others may use too.
  World(kv::Store& store, const std::string& filesystem);
  ~World();

  Context& context() { return *context_; }
  SpySession& session() { return *session_; }
  FakeFileData& data() { return *data_; }
  OpenFiles& open_files() { return open_files_; }
  // The next transaction that writes suffers this fault. faults_met(): no fault is left waiting.
  void fail_next_commit(kv::TxnFault::Kind kind);
  void stop_faults();
  bool faults_met() const { return formatted_->faults->empty(); }
  kv::Store& store() { return store_; }
  FsId fs() const { return context_->fs; }

  Handle root() const { return Handle{context_->fs, kRootIno, Generation{1}}; }
  // All are made as root, with mode 0755 or 0644; a failure ends the test's process.
  Handle mkdir(const Handle& dir, const std::string& name, const Credentials& who = kRoot);
  Handle create(const Handle& dir, const std::string& name, const Credentials& who = kRoot);
  Handle symlink(const Handle& dir, const std::string& name);
  void chmod(const Handle& handle, std::uint32_t mode);
  Attributes attributes(const Handle& handle);
  // Sorted.
  std::vector<std::string> names(const Handle& dir);
  bool exists(const std::string& key);

  // The compares and writes of the only mutation since session().forget(), as text.
  // Sorted, each once.
  std::vector<std::string> compares();
  std::vector<std::string> writes();

 private:
  void mount(const std::string& filesystem);

  std::unique_ptr<Formatted> formatted_;
  kv::Store& store_;
  std::unique_ptr<SpySession> session_;
  std::unique_ptr<FakeFileData> data_;
  OpenFiles open_files_;
  std::unique_ptr<InoLease> inos_;
  DirectoryFlights flights_;
  Membership membership_{Membership::Mode::kSole};
  std::unique_ptr<Context> context_;
};

// "inode(16) unchanged", "bucket(1) absent", "entries(17) absent"; "put inode(16)", "touch
// times(1)".
std::string text_of(const kv::Compare& compare);
std::string text_of(const kv::Op& op);

}  // namespace symnas::fs

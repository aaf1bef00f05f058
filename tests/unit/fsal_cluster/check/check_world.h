// CheckWorld: a filesystem on a store in memory with a mount of the product on it, and the findings
// that a Checker has about its keys.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "common/kv/mem/mem_store.h"
#include "fsal_cluster/check/checker.h"
#include "fsal_cluster/mount/mount.h"
#include "tests/support/sim_volume.h"
#include "tests/unit/fsal_cluster/check/populate.h"

namespace symnas::fs::test {

class CheckWorld {
 public:
  static constexpr std::uint64_t kLunBytes = std::uint64_t{72} << 20;
  static constexpr std::uint64_t kGroupBlocks = 1024;

  CheckWorld();

  // The next instance; earlier ones have ended. Fails the process when it cannot be opened.
  Mount& mount();
  void close();
  // Ends the mount as the local fence does; the mount object goes.
  void kill();

  Handle root() const { return {fs, kRootIno, Generation{1}}; }
  Handle mkdir(const Handle& dir, const std::string& name);
  Handle create(const Handle& dir, const std::string& name);
  void write(const Handle& file, std::uint64_t offset, std::size_t bytes);
  void truncate(const Handle& file, std::uint64_t size_bytes);
  // See populate.h.
  void populate();

  std::vector<kv::KeyValue> dump() const;
  check::Context context();

  std::shared_ptr<kv::MemServer> server = std::make_shared<kv::MemServer>();
  kv::MemStore store{kv::MemStoreOptions{.server = server}};
  FsId fs;

 private:
  std::shared_ptr<::symnas::test::SimDisk> disk_;
  std::unique_ptr<Mount> mount_;
  std::uint64_t epoch_ = 0;
};

// Every key of one filesystem, in the order that a Checker needs.
std::vector<kv::KeyValue> in_order(FsId fs, const std::vector<kv::KeyValue>& kvs);
// One line per finding: "<kind> inode 17: <text>".
std::vector<std::string> findings_of(const check::Context& context,
                                     const std::vector<kv::KeyValue>& kvs);

}  // namespace symnas::fs::test

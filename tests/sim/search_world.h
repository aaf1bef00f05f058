// SearchWorld: some mounts and one file, no more than tokens need: for each mount the real Session,
// TokenTable and FileData over the simulated etcd and disk. No names, no change of membership, no
// faults.
//
// Thread class: for simulated threads; calls of a mount from threads of its process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fsal_cluster/data/file_data.h"
#include "tests/sim/registers.h"
#include "tests/sim/sim_lun.h"
#include "tests/sim/sim_store.h"

namespace symnas::sim {

struct SearchMount {
  Process* process = nullptr;
  MountId id;
  fs::Membership membership{fs::Membership::Mode::kShared};
  std::unique_ptr<fs::TokenTable> tokens;
  SimStore* store = nullptr;
  std::shared_ptr<SimLun> lun;
  kv::Session* session = nullptr;
  fs::FileData* data = nullptr;
};

class SearchWorld {
 public:
  static constexpr FsId kFs{7};
  static constexpr Ino kFile{20};

  // When it returns, the mounts have opened, the first one has made the file with all registers
  // zero, and nobody has a token.
  explicit SearchWorld(std::size_t mounts);

  std::size_t size() const { return mounts_.size(); }
  SearchMount& operator[](std::size_t mount) { return *mounts_[mount]; }
  fs::Handle handle() const { return {kFs, kFile, Generation{1}}; }
  // Runs `what` in a thread of that mount.
  void call(std::size_t mount, const std::function<void(SearchMount&)>& what);

  // --- what the store contains. Checks return "" or what is wrong.
  // Never two X, never X beside S.
  std::string check_tokens() const;
  // The product's checker, without findings about what a filesystem without names lacks.
  std::string check_records() const;
  // A hash of what matters to the protocol: tokens, wants, the map, the size.
  std::uint64_t hash() const;

 private:
  void open(SearchMount& mount);
  void make_file();

  const std::shared_ptr<kv::MemServer> server_ = std::make_shared<kv::MemServer>();
  const std::shared_ptr<SimArray> array_;
  SimStore outside_;
  std::vector<std::unique_ptr<SearchMount>> mounts_;
};

}  // namespace symnas::sim

// QuotaGate: asks Quotas for the blocks that a WRITE or an ALLOCATE will have recorded, before any
// of them is written; and the look at what other mounts use, for which this mount records first
// what it has acknowledged.
//
// Thread class: thread-safe. Takes FileState::mutex. Invariant: FileState::charge is what will be
// recorded of the file and is not yet; too much of it is given back when nothing grows.
#pragma once

#include <cstdint>
#include <vector>

#include "fsal_cluster/data/attempt.h"
#include "fsal_cluster/data/data_context.h"
#include "fsal_cluster/data/file_committer.h"
#include "fsal_cluster/data/file_table.h"
#include "fsal_cluster/quota/quotas.h"

namespace symnas::fs {

class QuotaGate {
 public:
  QuotaGate(DataContext& context, FileTable& table, FileCommitter& committer)
      : context_(context), table_(table), committer_(committer) {}

  bool any() const { return context_.quotas() != nullptr && context_.quotas()->any(); }
  // Fills in the subjects of the file. Errors: those of read_inode().
  Task<Status> identify(FileState& f, QuotaAsking& asking);
  // Asks for blocks of the file. Sets `look_due` instead when a look is needed. Errors:
  // kQuotaExceeded.
  Status admit(FileState& f, QuotaAsking& asking, std::uint64_t blocks) REQUIRES(f.mutex);
  // REQUIRES: nothing is entered. Errors: kBusy (too many looks), those of commits and barriers.
  Task<Status> look(QuotaAsking& asking);
  // Commits the files of which something is charged. REQUIRES: as look().
  Task<Status> record();

 private:
  std::vector<FilePtr> files_with_charges() const;

  DataContext& context_;
  FileTable& table_;
  FileCommitter& committer_;
};

// So many blocks were recorded.
inline void uncharge(FileState& f, std::int64_t recorded_blocks) REQUIRES(f.mutex) {
  if (recorded_blocks > 0) f.charge.release({recorded_blocks, 0});
}
// Gives back what no growth stands for.
inline void uncharge_rest(FileState& f) REQUIRES(f.mutex) {
  if (f.writes.running == 0 && !f.has_growth()) f.charge.release_all();
}

}  // namespace symnas::fs

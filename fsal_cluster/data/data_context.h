// DataContext: what the parts of the data path share: the session, the volume, space, and who runs
// things in the background. Below it, the few things that each of them does with a file's records.
//
// Thread class: thread-safe; nothing here changes once the data path is open, but `closing` and
// `failed`. Coroutines: a reference that is given lives until the Task has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "common/env/clock.h"
#include "common/kv/keys.h"
#include "common/kv/session.h"
#include "cvm/volume_io.h"
#include "fsal_cluster/data/attention_list.h"
#include "fsal_cluster/data/file_data.h"
#include "fsal_cluster/data/file_state.h"
#include "fsal_cluster/data/limits.h"
#include "fsal_cluster/data/running.h"
#include "fsal_cluster/data/task.h"
#include "fsal_cluster/space/background.h"
#include "fsal_cluster/space/space.h"
#include "fsal_cluster/state/membership.h"
#include "fsal_cluster/token/token_table.h"

namespace symnas::fs {

struct DataContext {
  DataContext(kv::Session& kv_session, const env::Clock& mount_clock,
              std::shared_ptr<cvm::VolumeIo> volume_io, std::unique_ptr<Background> jobs,
              FileDataOptions data_options);

  Quotas* quotas() const { return options.quotas; }
  std::string inode_key(Ino ino) const { return kv::keys::inode(options.fs, ino); }
  std::string token_key(Ino ino) const { return kv::keys::token(options.fs, ino, options.mount); }
  // Acknowledged data is lost: reports it, the first time.
  void failed_for_good(const Error& error);

  kv::Session& session;
  const env::Clock& clock;
  const std::shared_ptr<cvm::VolumeIo> volume;
  const FileDataOptions options;
  const std::unique_ptr<Background> background;
  Membership always_sole{Membership::Mode::kSole};
  Membership* const membership;
  TokenTable* const tokens;      // null: this mount is always alone
  std::unique_ptr<Space> space;  // set once, when the data path is opened
  std::atomic<bool> failed{false};
  std::atomic<bool> closing{false};
  AttentionList attention;
  Running running;
};

// An inode record and its mod_revision.
struct InodeRecord {
  records::Inode inode;
  Revision revision;
};

Error stale(Ino ino);  // kStale: there is no such inode any more
Error closing();       // kShutdown: who waits for another mount waits no longer

// The record as the session has it. Errors: kStale, kCorrupt, those of the session.
Task<Result<InodeRecord>> read_inode(DataContext& context, FileState& f);
// `mutation` is used up.
Task<Result<kv::Committed>> commit_mutation(DataContext& context, kv::Mutation& mutation);
// Called before each try of a transaction, with its number: waits a moment before a late one;
// kConflict when there were too many.
Task<Status> pause_after_conflict(DataContext& context, FileState& f, int round);
Task<Status> pass_barrier(DataContext& context);
Task<Woken> pause_for(DataContext& context, std::int64_t span_ns);

MapGeneration map_generation_of(FileState& f);
// Whether a failure of the file may be logged now: once a minute.
bool log_is_due(const DataContext& context, FileState& f);
// The timer looks at the file from now on.
void list(DataContext& context, FileState& f) REQUIRES(f.mutex);
// Gives back what was reserved and not used, unless an operation uses the map.
void trim_reservations(DataContext& context, FileState& f) REQUIRES(f.mutex);

}  // namespace symnas::fs

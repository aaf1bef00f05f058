// FileState: what one mount keeps of one file while it is in use. Plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "fsal_cluster/data/file_map.h"
#include "fsal_cluster/data/placement.h"
#include "fsal_cluster/data/range_lock.h"
#include "fsal_cluster/data/task.h"
#include "fsal_cluster/token/grant.h"
#include "fsal_cluster/token/write_flag.h"

namespace symnas::fs {

// A coroutine waits for its turn on a Turn; the address of the Turn is its WaiterId.
struct Woken {};
using Turn = Answer<Woken>;
inline WaiterId waiter_id(Turn& turn) { return reinterpret_cast<WaiterId>(&turn); }
inline void wake(const std::vector<WaiterId>& ids) {
  for (const WaiterId id : ids) reinterpret_cast<Turn*>(id)->deliver({});
}

// Whether a commit drops the write flag, and the token with it. kMay: when the commit puts
// something anyway and nobody writes. kMustNot: the caller goes on with the token.
enum class DropFlag : std::uint8_t { kMay, kMust, kMustNot };

struct FileState : std::enable_shared_from_this<FileState> {
  FileState(Ino number, std::uint64_t group_blocks, std::uint64_t first_version)
      : ino(number), map(group_blocks), version(first_version) {}
  const Ino ino;
  Mutex mutex;

  // --- from the inode record; changed only by this mount
  bool loaded GUARDED_BY(mutex) = false;
  bool removed GUARDED_BY(mutex) = false;
  Generation generation GUARDED_BY(mutex);
  MapGeneration map_generation GUARDED_BY(mutex);
  bool chunked GUARDED_BY(mutex) = false;
  std::optional<std::uint64_t> trim_block GUARDED_BY(mutex);
  std::uint64_t committed_size GUARDED_BY(mutex) = 0;
  // True: the bytes between the end of the file and the end of its last block are zeros on the LUN.
  // False (after a load and after a shrink): not known; a write that moves the end up must zero
  // them first.
  bool tail_clean GUARDED_BY(mutex) = false;

  // --- the token of this mount. On a sole mount it is X while the flag is set, and nothing depends
  // on it. It changes with the gate held exclusively, or when the flag is dropped.
  TokenMode token GUARDED_BY(mutex) = TokenMode::kNone;
  bool token_wanted GUARDED_BY(mutex) = false;  // one operation is getting it; the others wait
  std::vector<WaiterId> token_waiters GUARDED_BY(mutex);
  bool answering_want GUARDED_BY(mutex) = false;
  // The file was written under S: other mounts may have shown changes and times that they made up
  // (Overlay). What is recorded next must be above them, also when nothing was written since.
  bool made_up GUARDED_BY(mutex) = false;
  Revision loaded_at GUARDED_BY(mutex);  // of the inode record that the map belongs to; 0: of none
  std::uint64_t life GUARDED_BY(mutex) = 0;  // differs after the map was forgotten or may be old
  std::uint32_t lone_reads GUARDED_BY(mutex) = 0;   // READs without a token, in quick succession
  std::int64_t granted_ns GUARDED_BY(mutex) = 0;    // the last grant of its token
  std::int64_t last_read_ns GUARDED_BY(mutex) = 0;  // last READ while there were several mounts
  bool publish_running GUARDED_BY(mutex) = false;
  std::vector<Answer<Status>*> publish_requests GUARDED_BY(mutex);  // for the next publish

  // --- state of the file now
  FileMap map GUARDED_BY(mutex);
  GrowthState growth GUARDED_BY(mutex);  // growth.size_bytes is the size of the file now
  IoGate gate GUARDED_BY(mutex);  // I/O (shared) against size changes and removal (exclusive)
  RangeLock ranges GUARDED_BY(mutex);
  WriteFlag flag GUARDED_BY(mutex);
  std::uint32_t writers GUARDED_BY(mutex) = 0;    // writes between their flag and their completion
  std::uint32_t want_room GUARDED_BY(mutex) = 0;  // how many of the writers wait for space
  std::vector<WaiterId> flag_waiters GUARDED_BY(mutex);
  // Revision of the record last seen without setuid and setgid.
  Revision unprivileged_at GUARDED_BY(mutex);
  bool unflushed GUARDED_BY(mutex) = false;  // volatile writes since the last flush
  bool listed GUARDED_BY(mutex) = false;     // in the engine's list of files that need attention
  std::int64_t last_write_ns GUARDED_BY(mutex) = 0;  // monotonic

  // --- what GETATTR adds to the record (Overlay)
  bool dirty GUARDED_BY(mutex) = false;
  std::int64_t mtime_ns GUARDED_BY(mutex) = 0;
  std::uint32_t change_n GUARDED_BY(mutex) = 0;
  Revision change_base GUARDED_BY(mutex);
  std::uint64_t version GUARDED_BY(mutex) = 0;
  // Completed writes; shows whether a snapshot has them all.
  std::uint64_t writes_seen GUARDED_BY(mutex) = 0;

  // --- commit: one at a time; requests up to the number with which it began share it
  struct CommitRequest {
    std::uint64_t number;
    Answer<Status>* answer;
  };
  bool commit_running GUARDED_BY(mutex) = false;
  std::uint64_t commit_requested GUARDED_BY(mutex) = 0;
  DropFlag commit_drop GUARDED_BY(mutex) = DropFlag::kMay;
  // The next commit puts the times although nothing has grown.
  bool commit_times GUARDED_BY(mutex) = false;
  // Such a commit was asked for, as change runs out of numbers.
  bool renumbering GUARDED_BY(mutex) = false;
  std::vector<CommitRequest> commit_requests GUARDED_BY(mutex);

  std::uint64_t size() const REQUIRES(mutex) { return growth.size_bytes; }
  bool has_growth() const REQUIRES(mutex) {
    return map.dirty() || growth.size_bytes != committed_size;
  }
};

}  // namespace symnas::fs

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
#include "fsal_cluster/quota/quotas.h"
#include "fsal_cluster/token/grant.h"
#include "fsal_cluster/token/write_flag.h"

namespace symnas::fs {

// A coroutine waits for its turn on a Turn; the address of the Turn is its WaiterId.
struct Woken {};
using Turn = Awaited<Woken>;
inline WaiterId waiter_id(Turn& turn) { return reinterpret_cast<WaiterId>(&turn); }
inline void wake(const std::vector<WaiterId>& ids) {
  for (const WaiterId id : ids) reinterpret_cast<Turn*>(id)->deliver({});
}

// Whether a commit drops the write flag, and the token with it. kMay: when the commit puts
// something anyway and nobody writes. kMustNot: the caller goes on with the token.
enum class DropFlag : std::uint8_t { kMay, kMust, kMustNot };

struct FileState : std::enable_shared_from_this<FileState> {
  // What the inode record says, as far as the data path needs it. Changed only by this mount.
  struct Record {
    Generation generation;
    MapGeneration map_generation;
    bool chunked = false;
    std::optional<std::uint64_t> trim_block;
    std::uint64_t size_bytes = 0;
    Revision loaded_at;  // of the record that the map belongs to; 0: of none
  };
  // The token of this mount. On a sole mount the mode is X while the flag is set, and nothing
  // depends on the mode. The token changes with the I/O lock held exclusively, or when the flag is
  // dropped.
  struct Token {
    TokenMode mode = TokenMode::kNone;
    bool wanted = false;  // one operation is getting it; the others wait
    std::vector<WaiterId> waiters;
    bool answering_want = false;
    std::int64_t granted_ns = 0;  // the last grant
  };
  // READs beside other mounts: how often they come, and so whether a token is worth its price.
  struct Reads {
    std::uint32_t lone = 0;    // without a token, in quick succession
    std::int64_t last_ns = 0;  // the last one, or the last grant of the token
  };
  // Operations that wait until the holder of X has published: one want serves all that came before.
  struct Publishing {
    bool running = false;
    std::vector<Awaited<Status>*> requests;  // for the next publish
  };
  // WRITEs under way, and what the last ones have left.
  struct Writes {
    std::uint32_t running = 0;    // between their flag and their completion
    std::uint32_t want_room = 0;  // how many of these wait for space
    bool unflushed = false;       // there were volatile ones since the last flush
    std::int64_t last_ns = 0;     // monotonic
    Revision unprivileged_at;     // of the record last seen without setuid and setgid
  };
  // Times and change that the record does not have yet: GETATTR adds them to it (Overlay).
  struct Unrecorded {
    bool dirty = false;
    std::int64_t mtime_ns = 0;
    std::uint32_t change_n = 0;
    Revision change_base;
    std::uint64_t writes_seen = 0;  // completed writes; shows whether a snapshot has them all
    // The file was written under S: other mounts may have shown changes and times that they made
    // up (Overlay). What is recorded next must be above them, also when nothing was written since.
    bool made_up = false;
  };
  // One commit runs at a time; requests up to the number with which it began share it.
  struct Commits {
    struct Request {
      std::uint64_t number;
      Awaited<Status>* answer;
    };
    bool running = false;
    std::uint64_t requested = 0;
    std::vector<Request> requests;
    DropFlag drop = DropFlag::kMay;
    bool times = false;        // the next one puts the times although nothing has grown
    bool renumbering = false;  // such a one was asked for, as change runs out of numbers
  };

  FileState(Ino number, std::uint64_t group_blocks, std::uint64_t first_version)
      : ino(number), version(first_version), map(group_blocks) {}
  const Ino ino;
  Mutex mutex;

  bool loaded GUARDED_BY(mutex) = false;           // record and map are in memory
  bool removed GUARDED_BY(mutex) = false;          // with its record, by this mount
  bool removal_refused GUARDED_BY(mutex) = false;  // a removal was abandoned
  std::int64_t next_log_ns GUARDED_BY(mutex) = 0;  // mono; until then its failures are not logged
  bool listed GUARDED_BY(mutex) = false;           // in the AttentionList
  std::uint64_t version GUARDED_BY(mutex);         // of what GETATTR adds: Overlay::version
  std::uint64_t life GUARDED_BY(mutex) = 0;  // differs after the map was forgotten or may be old
  Record record GUARDED_BY(mutex);
  Token token GUARDED_BY(mutex);

  FileMap map GUARDED_BY(mutex);
  GrowthState growth GUARDED_BY(mutex);  // growth.size_bytes is the size of the file now
  // True: the bytes between the end of the file and the end of its last block are zeros on the LUN.
  // False (after a load and after a shrink): not known; a write that moves the end up must zero
  // them first.
  bool tail_clean GUARDED_BY(mutex) = false;
  IoLock io_lock GUARDED_BY(mutex);  // I/O (shared) against size changes and removal (exclusive)
  RangeLock ranges GUARDED_BY(mutex);
  WriteFlag flag GUARDED_BY(mutex);
  std::vector<WaiterId> flag_waiters GUARDED_BY(mutex);

  Reads reads GUARDED_BY(mutex);
  Publishing publishing GUARDED_BY(mutex);
  Writes writes GUARDED_BY(mutex);
  Unrecorded unrecorded GUARDED_BY(mutex);
  Quotas::Charge charge GUARDED_BY(mutex);  // quota_gate.h
  Commits commits GUARDED_BY(mutex);

  std::uint64_t size() const REQUIRES(mutex) { return growth.size_bytes; }
  bool has_growth() const REQUIRES(mutex) {
    return map.dirty() || growth.size_bytes != record.size_bytes;
  }
};

using FilePtr = std::shared_ptr<FileState>;

}  // namespace symnas::fs

// FileData: the bytes of every file of one mount: READ, WRITE, COMMIT, size changes and the freeing
// of space.
//
// Thread class: thread-safe. read, write and commit never block their caller; the others block
// until their outcome is known (etcd away = they wait). REQUIRES for those: not on a store thread,
// a volume thread or a callback of FileData.
// Invariants: INV-2 (one visible change per operation), INV-5 (an extent is visible only after its
// bytes, zero fill included, are on stable storage; changed data means a changed change attribute,
// across any crash), INV-6 (freed space is reused only after every I/O that began before the free
// has finished). How: docs/architecture/data_path.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/session.h"
#include "cvm/volume_io.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/space/space.h"
#include "fsal_cluster/state/membership.h"
#include "fsal_cluster/state/peers.h"
#include "fsal_cluster/token/token_table.h"
#include "fsal_cluster/types/file_io.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

class Quotas;  // quota/quotas.h

// Overlay: what memory knows of a file beyond its record. GETATTR merges the two: show() below.
struct Overlay {
  bool dirty = false;            // something below is newer than the record
  std::uint64_t size_bytes = 0;  // of the file now; only when dirty
  std::int64_t mtime_ns = 0;     // of the last write; only when dirty
  std::uint32_t change_n = 0;    // writes since the record got revision `change_base`; < 2^16
  std::uint64_t used_blocks_extra = 0;  // allocated, not in the record yet
  Revision change_base;                 // mod_revision of the record that change_n counts from
  std::uint64_t version = 0;            // differs after each metadata change of the file's data
  // Another mount may be writing in place, and nobody here knows how often. Change and times are
  // made up: above every recorded one that is known, below the next one that will be recorded.
  struct ForeignWrites {
    Revision applied;     // revision that this mount had applied when it looked
    std::uint32_t n = 0;  // < 2^16; differs at each look
    std::int64_t time_ns = 0;
  };
  std::optional<ForeignWrites> foreign;
};

// Fills in the attributes of a regular file that depend on its data (size, space used, mtime,
// ctime, change) from its record, with its mod_revision, and from what memory knows beyond it. The
// other attributes are left alone. change = (mod_revision << 16) | writes since that revision: two
// different contents never have one value.
void show(const records::Inode& record, Revision mod_revision,
          const std::optional<Overlay>& overlay, std::uint32_t block_bytes, Attributes& attributes);

// Who has chosen the mtime that a change of the record puts.
enum class MtimeIs : std::uint8_t {
  kOfTheChange,
  // The client: everything pending is committed before, and the write flag is dropped with it, so
  // that neither an earlier write nor a recovery replaces the mtime.
  kChosen,
};

struct FileDataOptions {
  FsId fs;
  MountId mount;
  // All three are null when this mount is always the only one. They outlive this object; the
  // session lets the table and the peers follow the store.
  Membership* membership = nullptr;
  const Peers* peers = nullptr;
  TokenTable* tokens = nullptr;
  std::uint32_t block_bytes = 4096;  // FilesystemRecord.block_bytes
  std::uint64_t group_blocks = 0;    // FilesystemRecord.group_blocks
  // Called once when acknowledged UNSTABLE data could not be made stable. The process must exit
  // without answering: then clients see a new write verifier and send the data again.
  std::function<void(Error)> on_failed_flush;
  Quotas* quotas = nullptr;  // outlives this object; null: there are no limits
};

class FileData {
 public:
  // Reads group ownership and counts used space in the background. Blocks.
  // Errors: kUnavailable, kEnded, kInvalidArgument (block or group size), kCorrupt.
  // `session` and `clock` outlive it.
  static Result<std::unique_ptr<FileData>> open(kv::Session& session, const env::Clock& clock,
                                                std::shared_ptr<cvm::VolumeIo> volume,
                                                FileDataOptions options);
  // Waits for running I/O. Commits nothing: flush_all() does that.
  virtual ~FileData() = default;

  // nullopt: nothing is known of the inode beyond its record. Never blocks. GETATTR must use
  // read_consistent(): record and overlay must be of one moment.
  virtual std::optional<Overlay> overlay(Ino ino) = 0;

  // Has another mount record what it has acknowledged of the file; then this mount's cache shows
  // it. For operations that answer the file's attributes while there are several mounts, after
  // their barrier. Blocks until it is done; needs no transaction when no other mount has X. Errors:
  // those of Session.
  virtual Status publish_foreign(Ino /*ino*/) { return {}; }

  // Changes the size, and whatever `edit` does to the inode record, in one transaction; retries
  // conflicts. `edit` is called once per try, with the record as read, in which size, mtime and
  // ctime are changed already. It must not block. When `edit` returns an error, the call returns
  // that error and nothing happens: permission checks belong into `edit`. `also`: one more put of
  // the same transaction. Errors: kStale, kOutOfRange (beyond kFileBytesMax), kIsDirectory,
  // kInvalidArgument (no regular file), those of `edit`, those of the session.
  virtual Result<kv::Committed> set_size(const Handle& handle, std::uint64_t size_bytes,
                                         MtimeIs mtime, std::function<Status(records::Inode&)> edit,
                                         std::optional<kv::Op> also = std::nullopt) = 0;

  // Changes the record of a regular file by `edit`, while nobody writes to the file: for SETATTR of
  // mtime without a size. `edit` is called with the record as read. Otherwise as set_size() with
  // MtimeIs::kChosen.
  virtual Result<kv::Committed> set_times(const Handle& handle,
                                          std::function<Status(records::Inode&)> edit,
                                          std::optional<kv::Op> also = std::nullopt) = 0;

  // FileData's part of the transaction that removes an inode record for ever. Between
  // plan_removal() and removed() or abandoned() the inode's I/O waits (it does not fail).
  struct Removal {
    std::vector<kv::Compare> compares;
    std::vector<kv::Op> writes;
    Ino ino;
    std::shared_ptr<void> plan;  // state for removed() and abandoned()
  };
  // Drains the inode's I/O. REQUIRES: `record` is the inode's record, and the transaction compares
  // its mod_revision. After a conflict call abandoned(), read the record again and plan again.
  // Directories, symlinks and devices have no data: an empty plan is returned.
  virtual Result<Removal> plan_removal(const Handle& handle, const records::Inode& record) = 0;
  // The transaction succeeded: later I/O of the inode answers kStale, and its space is freed (in
  // the background when it is large).
  virtual void removed(Removal removal) = 0;
  // The transaction did not succeed: I/O goes on, uncommitted data is still there.
  virtual void abandoned(Removal removal) = 0;

  virtual void read(const Handle& handle, FileOffset offset, std::size_t bytes,
                    ReadCallback done) = 0;
  virtual void write(const Handle& handle, FileOffset offset, std::span<const std::byte> data,
                     WriteStability wanted, WriteCallback done) = 0;
  virtual void commit(const Handle& handle, StatusCallback done) = 0;

  // As the functions of Mount of the same names; blocking.
  virtual Status allocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) = 0;
  virtual Status deallocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) = 0;
  virtual Result<std::optional<Sought>> seek(const Handle& handle, FileOffset offset,
                                             Content content) = 0;

  // Commits every file and drops every write flag: for a clean close.
  virtual Status flush_all() = 0;
  virtual Result<SpaceUse> space() = 0;  // bytes only; the caller adds the file counts

  // Frees the dead map of an orphan record and erases that record, unless it says `open`. The
  // caller removes the inode record of an unlinked file. Large maps take several transactions.
  virtual Status sweep_orphan(Ino ino, const records::Orphan& orphan) = 0;
  // Recovers the tokens of an ended mount. What that mount has written is made stable; then each
  // inode with the write flag gets times = now (so a new change attribute) in the transaction that
  // erases the token. Takes over its allocation groups. REQUIRES: the mount's end record exists.
  // Errors: kIo (the flush), those of Session.
  virtual Status recover_ended_mount(MountId ended) = 0;
  // No other mount may change files from now on: forgets everything that is not known to be
  // current. REQUIRES: no operation has begun as sole yet; the cache shows everything that other
  // mounts have changed.
  virtual void turned_sole() {}

  // The files that were used lately, most recent first, at most kFilesInUseMax, for the end record.
  // Called after stop_fetching() and before flush_all(). Never blocks.
  virtual std::vector<records::FileInUse> files_in_use() { return {}; }
  // Gets in the background what the first READ or WRITE of each file would wait for, unless another
  // mount has or wants the file's token. Never blocks; failures are ignored.
  virtual void fetch(const std::vector<records::FileInUse>& /*files*/) {}
  // Returns when no fetch is under way; none begins after it.
  virtual void stop_fetching() {}
  // From now on an operation that waits for the token of another mount gets kShutdown, and nothing
  // is committed in the background any more: for the end of a mount. Idempotent, never blocks.
  virtual void stop_waiting() {}
  // Records what is acknowledged and counts for a quota. Blocks. Errors: those of commit().
  virtual Status record_usage() { return {}; }
  // The announcement of the heartbeat; called about once a second. Never blocks.
  virtual SpaceAnnouncement announcement() { return {}; }
  // The puts of a token with the write flag, for the transaction that creates a regular file: with
  // them the first write of the file needs no transaction of its own. Not for a file whose mtime
  // the client has chosen: recover_ended_mount() would replace it.
  virtual std::vector<kv::Op> tokens_at_create(Ino ino) = 0;
  // Tells that the creating transaction has succeeded. A token that nobody uses is erased some
  // seconds later. Never blocks.
  virtual void created(Ino ino) = 0;
};

// Calls read_record() (which returns the record as the session's cache has it) between two looks at
// the overlay, until both looks are the same: then show() of the pair is one moment of the file.
// Returns {record, overlay}.
template <class ReadRecord>
auto read_consistent(FileData& data, Ino ino, ReadRecord read_record) {
  for (;;) {
    const auto before = data.overlay(ino);
    auto record = read_record();
    const auto after = data.overlay(ino);
    if (before.has_value() == after.has_value() && (!before || before->version == after->version))
      return std::make_pair(std::move(record), before);
  }
}

}  // namespace symnas::fs

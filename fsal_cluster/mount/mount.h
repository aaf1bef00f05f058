// Mount: one instance's membership in one filesystem, and every operation on it. What the ganesha
// plugin calls.
//
// Thread class: thread-safe. Namespace operations block their caller until the outcome is known
// (etcd away = they wait); READ, WRITE and COMMIT are asynchronous and call back on a thread of the
// mount. Invariants: INV-2 (one operation, one visible change), INV-3 (through the session), INV-5,
// INV-6 (through data/), and the gate: no outcome leaves the mount, and no I/O is submitted,
// without proof that it has not ended; both wait for it. Permission: operations that change
// something check permission on the same records that their transaction compares; GETATTR, LOOKUP,
// READ and WRITE leave checks to the caller (access.h has the rule).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "common/env/clock.h"
#include "common/kv/session.h"
#include "common/kv/store.h"
#include "cvm/volume_io.h"
#include "fsal_cluster/reply/call.h"
#include "fsal_cluster/state/share_mode.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

class FileLocks;         // state/file_locks.h
enum class ShareAnswer;  // state/share_modes.h
struct LockOwner;        // state/lock_table.h
class Gate;              // state/gate.h

enum class WriteStability { kUnstable, kDataSync, kFileSync };

struct ReadResult {
  std::size_t bytes = 0;
  bool end_of_file = false;
  cvm::Buffer buffer;  // aligned pool buffer; data begins at buffer.data() + offset_bytes
  std::size_t offset_bytes = 0;
};
using ReadCallback = std::function<void(Result<ReadResult>)>;
struct WriteResult {
  std::size_t bytes = 0;
  WriteStability achieved = WriteStability::kFileSync;
};
using WriteCallback = std::function<void(Result<WriteResult>)>;
using StatusCallback = std::function<void(Status)>;

// Makes the server in front forget what `owner` holds of a file in its own lists. From `begin`,
// which may say that there is nothing to do, to `end`, which follows then, no lock of that file is
// taken or given up. Errors: kUnavailable (it does not serve the file yet: to be asked again);
// neither was called then, or `begin` said no.
using ReleaseLocks =
    std::function<Status(const Handle& file, const LockOwner& owner,
                         const std::function<bool()>& begin, const std::function<void()>& end)>;

struct MountOptions {
  FsId fs;
  std::string filesystem_name;
  std::string head;
  std::string vnfs;
  VnfsId vnfs_id;
  Epoch epoch;
  std::string head_incarnation;
  std::vector<kv::Compare> guards;    // owner record of the VNFS
  std::int64_t etcd_quota_bytes = 0;  // 0: nothing is kept back of it
  std::function<void(Error)>
      on_ended;  // disproof or failed flush: the process must exit without answering
  std::int64_t nfs_lease_s = 20;  // of NFSv4
  ReleaseLocks release_locks;     // empty: the server keeps no lists of its own
};

class Mount {
 public:
  // Claims the filesystem (mount record), cleans what ended mounts left (tokens with the write flag
  // bump change), opens the session. Blocks. `volume` is open and holds its OFD locks already.
  // Errors: kBusy when a mount of the same VNFS has not ended, or another one is alone and does not
  // let this one in (the message names head and VNFS and says what to do), kNotFound, kUnavailable,
  // kCorrupt.
  static Result<std::unique_ptr<Mount>> open(kv::Store& store, const env::Clock& clock,
                                             std::shared_ptr<cvm::VolumeIo> volume,
                                             MountOptions options);
  // Clean close: flushes, commits, writes the end record itself.
  virtual Status close() = 0;
  virtual ~Mount() = default;

  virtual MountId id() const = 0;
  virtual FsId fsid() const = 0;

  // --- namespace. `dir` errors everywhere: kStale, kNotDirectory; names: kInvalidArgument ("",
  // "/", NUL), kNameTooLong; "." and ".." are answered by lookup only.
  virtual Result<Attributes> lookup(const Handle& dir, const std::string& name) = 0;
  virtual Result<Attributes> getattr(const Handle& handle) = 0;
  // getattr without ever waiting; nullopt: it would have to.
  virtual std::optional<Result<Attributes>> getattr_from_cache(const Handle& handle,
                                                               Freshness freshness) = 0;
  virtual Result<Attributes> setattr(const Credentials& who, const Handle& handle,
                                     const SetAttributes& changes) = 0;
  virtual Result<Created> create(const Credentials& who, const Handle& dir, const std::string& name,
                                 CreateMode mode, std::uint64_t verifier, const NewNode& node) = 0;
  virtual Result<Created> mkdir(const Credentials& who, const Handle& dir, const std::string& name,
                                const NewNode& node) = 0;
  virtual Result<Created> mknod(const Credentials& who, const Handle& dir, const std::string& name,
                                const NewNode& node) = 0;
  virtual Result<Created> symlink(const Credentials& who, const Handle& dir,
                                  const std::string& name, const NewNode& node) = 0;
  virtual Result<std::string> readlink(const Handle& handle) = 0;
  virtual Result<DirectoryChange> link(const Credentials& who, const Handle& target,
                                       const Handle& dir, const std::string& name) = 0;
  virtual Result<DirectoryChange> unlink(const Credentials& who, const Handle& dir,
                                         const std::string& name) = 0;  // kIsDirectory for one
  virtual Result<DirectoryChange> rmdir(const Credentials& who, const Handle& dir,
                                        const std::string& name) = 0;
  struct Renamed {
    DirectoryChange from;
    DirectoryChange to;
  };
  virtual Result<Renamed> rename(const Credentials& who, const Handle& from_dir,
                                 const std::string& from_name, const Handle& to_dir,
                                 const std::string& to_name) = 0;
  // Entries after `cookie` (0 = from the start); at most `entries_max`. Errors: kBadCookie for 1, 2
  // and >= 2^63.
  virtual Result<DirectoryPage> readdir(const Handle& dir, std::uint64_t cookie,
                                        std::size_t entries_max) = 0;
  virtual Result<SpaceUse> statfs() = 0;
  // Subtree roots of exports: resolves "/a/b" from the root; symlinks are not followed.
  virtual Result<Attributes> resolve(const std::string& path) = 0;

  // Open count of an inode in this process: an inode unlinked while open lives until the last
  // close.
  // closed() never waits: the inode is removed in the background.
  virtual void opened(const Handle& handle) = 0;
  virtual void closed(const Handle& handle) = 0;
  // ShareModes::change, can_deny and is_denied: share reservations among the opens of all mounts.
  virtual Result<ShareAnswer> share(const Handle& handle, ShareMode before, ShareMode after,
                                    bool is_reclaim) = 0;
  virtual bool can_deny() const = 0;
  virtual bool is_denied(const Handle& handle, std::uint8_t bits) const = 0;

  // --- data. READ of at most kIoBytesMax; a hole reads as zeros without I/O.
  virtual void read(const Handle& handle, FileOffset offset, std::size_t bytes,
                    ReadCallback done) = 0;
  // `data` stays valid until the callback. Bytes written are all or an error (kNoSpace: nothing
  // half-written is visible).
  virtual void write(const Handle& handle, FileOffset offset, std::span<const std::byte> data,
                     WriteStability wanted, WriteCallback done) = 0;
  // Everything written to the file before the call is on stable storage when it answers OK.
  virtual void commit(const Handle& handle, StatusCallback done) = 0;

  // Every outcome above has passed it; a server's reply passes it once more before it is sent
  // (what it says may have been computed without the mount).
  virtual Gate& gate() = 0;

  // Byte-range locks, recorded in the store (INV-7).
  virtual FileLocks& locks() = 0;

  virtual kv::SessionCounters counters() const = 0;

  // What a former instance of this VNFS has carried out for the call: the object that it made or
  // changed (all zero: the answer names none). nullopt: nothing that is known. For kReplyLookNs
  // after the mount was opened the first call of each client blocks for one read. Errors: those of
  // Session::range.
  virtual Result<std::optional<Handle>> done_before(const Call& call) = 0;
};

}  // namespace symnas::fs

// Mount: one instance's membership in one filesystem, and every operation on it. The interface that
// the ganesha plugin calls.
//
// Thread class: thread-safe. Namespace operations block their caller until the outcome is known
// (etcd away = they wait); READ, WRITE and COMMIT are asynchronous and call back on a thread of the
// mount.
// Invariants: INV-2 (one operation, one visible change), INV-3 (through the session), INV-5, INV-6
// (through data/), and the gate: without proof that the mount has not ended, no outcome leaves it
// and no I/O is submitted; both wait for the proof.
// Permission: operations that change something check permission on the same records that their
// transaction compares. The caller checks it for GETATTR, LOOKUP, READ and WRITE (rule: access.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/env/clock.h"
#include "common/kv/session.h"
#include "common/kv/store.h"
#include "cvm/volume_io.h"
#include "fsal_cluster/quota/standing.h"
#include "fsal_cluster/reply/call.h"
#include "fsal_cluster/types/file_io.h"
#include "fsal_cluster/types/share_mode.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

class FileLocks;         // state/file_locks.h
enum class ShareAnswer;  // state/share_modes.h
struct LockOwner;        // state/lock_table.h
class Gate;              // state/gate.h
struct Renamed;          // ops/rename.h

// Makes the server in front of the mount (ganesha) forget what `owner` holds of a file in its own
// lists. The function calls `begin`, which may say that there is nothing to do, and then `end`.
// Between the two no lock of that file is taken or given up. Errors: kUnavailable (the server does
// not serve the file yet: call again); then neither was called, or `begin` said no.
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
  std::int64_t etcd_quota_bytes = 0;  // 0: no part of the quota is held in reserve
  std::function<void(Error)>
      on_ended;  // disproof or failed flush: the process must exit without answering
  std::int64_t nfs_lease_s = 20;      // of NFSv4
  bool records_access_times = false;  // if the filesystem has them recorded
  ReleaseLocks release_locks;         // empty: the server keeps no lists of its own
};

class Mount {
 public:
  // Claims the filesystem (mount record), recovers what ended mounts left (files whose token has
  // the write flag get a new change attribute), opens the session. Blocks. `volume` is open and
  // holds its OFD locks already. Errors: kBusy when a mount of the same VNFS has not ended, or
  // another one is alone and does not let this one in (the message names head and VNFS and says
  // what to do), kNotFound, kUnavailable, kCorrupt.
  static Result<std::unique_ptr<Mount>> open(kv::Store& store, const env::Clock& clock,
                                             std::shared_ptr<cvm::VolumeIo> volume,
                                             MountOptions options);
  // Clean close: flushes, commits, writes the mount's own end record.
  virtual Status close() = 0;
  virtual ~Mount() = default;

  virtual MountId id() const = 0;
  virtual FsId fsid() const = 0;
  // Whether ACLs may be set: as the filesystem's record said when the mount was opened.
  virtual bool keeps_acls() const = 0;

  // --- namespace. `dir` errors everywhere: kStale, kNotDirectory; names: kInvalidArgument ("",
  // "/", NUL), kNameTooLong; "." and ".." are answered by lookup only.
  virtual Result<Attributes> lookup(const Handle& dir, const std::string& name) = 0;
  virtual Result<Attributes> getattr(const Handle& handle) = 0;
  // As getattr(), but never waits; nullopt: it would have to wait.
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
                                         const std::string& name) = 0;  // kIsDirectory: it is one
  virtual Result<DirectoryChange> rmdir(const Credentials& who, const Handle& dir,
                                        const std::string& name) = 0;
  virtual Result<Renamed> rename(const Credentials& who, const Handle& from_dir,
                                 const std::string& from_name, const Handle& to_dir,
                                 const std::string& to_name) = 0;
  // Entries after `cookie` (0 = from the start); at most `entries_max`. Errors: kBadCookie for 1, 2
  // and >= 2^63.
  virtual Result<DirectoryPage> readdir(const Handle& dir, std::uint64_t cookie,
                                        std::size_t entries_max) = 0;
  // Extended attributes: as the functions of ops/xattrs.h. Without has_xattrs() there are none, and
  // changes are refused: kNotSupported.
  virtual bool has_xattrs() const = 0;
  virtual Result<std::string> get_xattr(const Credentials& who, const Handle& handle,
                                        const std::string& name) = 0;
  virtual Result<std::vector<XattrName>> list_xattrs(const Credentials& who, const Handle& handle,
                                                     std::uint64_t cookie) = 0;
  virtual Status set_xattr(const Credentials& who, const Handle& handle, const std::string& name,
                           const std::string& value, XattrOption option) = 0;
  virtual Status remove_xattr(const Credentials& who, const Handle& handle,
                              const std::string& name) = 0;
  // As the limits of the filesystem, and of the directory tree in which that object lies, leave it;
  // nullopt: of no object.
  virtual Result<SpaceUse> statfs(const std::optional<Handle>& at) = 0;
  // What a user or group uses of what it may; nullopt: quotas are off, or not everything is counted
  // yet. Errors: kPermission (of somebody else: ops/quota.h).
  virtual Result<std::optional<QuotaStanding>> quota_of(const Credentials& who,
                                                        const Subject& subject) = 0;
  // For the roots of exports: resolves "/a/b" from the root; symlinks are not followed.
  virtual Result<Attributes> resolve(const std::string& path) = 0;

  // Count the opens of an inode in this process: an inode unlinked while open lives until the last
  // close. closed() never waits: the inode is removed in the background.
  virtual void opened(const Handle& handle) = 0;
  virtual void closed(const Handle& handle) = 0;
  // Share reservations among the opens of all mounts: ShareModes::change and is_denied.
  virtual Result<ShareAnswer> share(const Handle& handle, ShareMode before, ShareMode after,
                                    bool is_reclaim) = 0;
  virtual bool is_denied(const Handle& handle, std::uint8_t bits) const = 0;

  // --- data. READ of at most kIoBytesMax; a hole reads as zeros without I/O.
  virtual void read(const Handle& handle, FileOffset offset, std::size_t bytes,
                    ReadCallback done) = 0;
  // `data` stays valid until the callback. Either all bytes are written, or the answer is an error
  // (kNoSpace: nothing half-written is visible).
  virtual void write(const Handle& handle, FileOffset offset, std::span<const std::byte> data,
                     WriteStability wanted, WriteCallback done) = 0;
  // When it calls back with OK, everything written to the file before the call is on stable
  // storage.
  virtual void commit(const Handle& handle, StatusCallback done) = 0;

  // RFC 7862 15.1, 15.4, 15.11. All three block. ALLOCATE reserves blocks for these bytes, which
  // read as zeros until they are written, and grows the file to their end. DEALLOCATE makes these
  // bytes zeros and frees the blocks that lie wholly among them; the size stays. Errors of both:
  // kBusy (a part is done: repeat it for the rest), kOutOfRange (behind kFileBytesMax), those of
  // write(). When ALLOCATE answers kNoSpace, size and contents are as they were before the call.
  virtual Status allocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) = 0;
  virtual Status deallocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) = 0;
  // nullopt: `offset` is at or behind the end of the file. Errors: as read().
  virtual Result<std::optional<Sought>> seek(const Handle& handle, FileOffset offset,
                                             Content content) = 0;

  // Every outcome above has passed this gate. A server's reply passes it once more before it is
  // sent, because the server may have computed it without the mount.
  virtual Gate& gate() = 0;

  // Byte-range locks, recorded in the store (INV-7).
  virtual FileLocks& locks() = 0;

  virtual kv::SessionCounters counters() const = 0;

  // Whether a former instance of this VNFS has carried the call out. Returns the object that the
  // call made or changed (all zero: the answer names none); nullopt: nothing is known of the call.
  // For kReplyLookNs after the mount was opened the first call of each client blocks for one read.
  // Errors: those of Session::range.
  virtual Result<std::optional<Handle>> done_before(const Call& call) = 0;
};

}  // namespace symnas::fs

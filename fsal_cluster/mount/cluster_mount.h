// ClusterMount: the Mount of mount.h: session, data, locks and the context of the operations, in
// the order in which they must be made and destroyed.
//
// Thread class: thread-safe. Lock order: docs/architecture/lock_order.md.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/env/random.h"
#include "fsal_cluster/data/file_data.h"
#include "fsal_cluster/mount/access_times.h"
#include "fsal_cluster/mount/file_count.h"
#include "fsal_cluster/mount/heartbeat.h"
#include "fsal_cluster/mount/lock_clearing.h"
#include "fsal_cluster/mount/lun_touch.h"
#include "fsal_cluster/mount/membership_keeper.h"
#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/mount/orphan_sweep.h"
#include "fsal_cluster/mount/orphan_watch.h"
#include "fsal_cluster/mount/quota_watch.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/quota/accounting_session.h"
#include "fsal_cluster/quota/quotas.h"
#include "fsal_cluster/quota/usage_keeper.h"
#include "fsal_cluster/quota/usage_table.h"
#include "fsal_cluster/reply/replies.h"
#include "fsal_cluster/state/file_locks.h"
#include "fsal_cluster/state/foreign_waits.h"
#include "fsal_cluster/state/gate.h"
#include "fsal_cluster/state/lock_orders.h"
#include "fsal_cluster/state/membership.h"
#include "fsal_cluster/state/mount_claim.h"
#include "fsal_cluster/state/open_orphans.h"
#include "fsal_cluster/state/peers.h"
#include "fsal_cluster/state/share_modes.h"
#include "fsal_cluster/state/share_table.h"

namespace symnas::fs {

class ClusterMount final : public Mount {
 public:
  // The parts that Mount::open has put together. Each part may use those above it, and is destroyed
  // first.
  struct Parts {
    Claim claim;
    std::unique_ptr<Gate> gate;
    std::unique_ptr<LunTouch> touch;
    std::unique_ptr<Membership> membership;
    std::unique_ptr<Peers> peers;
    std::unique_ptr<OpenOrphans> orphans;
    std::unique_ptr<TokenTable> tokens;
    std::unique_ptr<ShareTable> share_table;
    std::unique_ptr<LockOrders> lock_orders;
    std::unique_ptr<ForeignWaits> foreign_waits;
    ReleaseLocks release_locks;
    VnfsId vnfs;
    std::string vnfs_name;
    std::int64_t nfs_lease_s = 0;
    bool records_access_times = false;
    NameHasher hasher;
    std::unique_ptr<QuotaWatch> quota;
    Heartbeat::Proof proof;
    std::unique_ptr<UsageTable> usage;
    std::unique_ptr<AccountingSession> session;
    std::unique_ptr<Quotas> quotas;
    std::unique_ptr<FileData> data;
    std::unique_ptr<FileLocks> locks;
    std::unique_ptr<Replies> replies;
  };
  ClusterMount(const env::Clock& clock, Parts parts);
  ~ClusterMount() override;

  // Starts the heartbeat, takes over what ended mounts left, then removes their records; starts the
  // sweep and the keeper of the membership. Blocks. Errors: those of FileData::recover_ended_mount,
  // Session::commit and range. `orphans`: the orphans that exist; nullopt: they must be listed
  // after the recovery, which makes more.
  Status recover(std::optional<std::vector<Ino>> orphans);

  Status close() override;
  MountId id() const override { return parts_.claim.id; }
  FsId fsid() const override { return context_.fs; }

  Result<Attributes> lookup(const Handle& dir, const std::string& name) override;
  Result<Attributes> getattr(const Handle& handle) override;
  std::optional<Result<Attributes>> getattr_from_cache(const Handle& handle,
                                                       Freshness freshness) override;
  Result<Attributes> setattr(const Credentials& who, const Handle& handle,
                             const SetAttributes& changes) override;
  Result<Created> create(const Credentials& who, const Handle& dir, const std::string& name,
                         CreateMode mode, std::uint64_t verifier, const NewNode& node) override;
  Result<Created> mkdir(const Credentials& who, const Handle& dir, const std::string& name,
                        const NewNode& node) override;
  Result<Created> mknod(const Credentials& who, const Handle& dir, const std::string& name,
                        const NewNode& node) override;
  Result<Created> symlink(const Credentials& who, const Handle& dir, const std::string& name,
                          const NewNode& node) override;
  Result<std::string> readlink(const Handle& handle) override;
  Result<DirectoryChange> link(const Credentials& who, const Handle& target, const Handle& dir,
                               const std::string& name) override;
  Result<DirectoryChange> unlink(const Credentials& who, const Handle& dir,
                                 const std::string& name) override;
  Result<DirectoryChange> rmdir(const Credentials& who, const Handle& dir,
                                const std::string& name) override;
  Result<Renamed> rename(const Credentials& who, const Handle& from_dir,
                         const std::string& from_name, const Handle& to_dir,
                         const std::string& to_name) override;
  Result<DirectoryPage> readdir(const Handle& dir, std::uint64_t cookie,
                                std::size_t entries_max) override;
  bool has_xattrs() const override { return parts_.claim.filesystem.acls_and_xattrs(); }
  Result<std::string> get_xattr(const Credentials& who, const Handle& handle,
                                const std::string& name) override;
  Result<std::vector<XattrName>> list_xattrs(const Credentials& who, const Handle& handle,
                                             std::uint64_t cookie) override;
  Status set_xattr(const Credentials& who, const Handle& handle, const std::string& name,
                   const std::string& value, XattrOption option) override;
  Status remove_xattr(const Credentials& who, const Handle& handle,
                      const std::string& name) override;
  Result<SpaceUse> statfs(const std::optional<Handle>& at) override;
  Result<std::optional<QuotaStanding>> quota_of(const Credentials& who,
                                                const Subject& subject) override;
  Result<Attributes> resolve(const std::string& path) override;

  Result<std::optional<Handle>> done_before(const Call& call) override;

  void opened(const Handle& handle) override;
  void closed(const Handle& handle) override;
  Result<ShareAnswer> share(const Handle& handle, ShareMode before, ShareMode after,
                            bool is_reclaim) override;
  bool keeps_acls() const override { return context_.acls; }
  bool is_denied(const Handle& handle, std::uint8_t bits) const override;

  void read(const Handle& handle, FileOffset offset, std::size_t bytes, ReadCallback done) override;
  void write(const Handle& handle, FileOffset offset, std::span<const std::byte> data,
             WriteStability wanted, WriteCallback done) override;
  void commit(const Handle& handle, StatusCallback done) override;
  Status allocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) override;
  Status deallocate(const Handle& handle, FileOffset offset, std::uint64_t bytes) override;
  Result<std::optional<Sought>> seek(const Handle& handle, FileOffset offset,
                                     Content content) override;

  Gate& gate() override { return *parts_.gate; }
  FileLocks& locks() override { return *parts_.locks; }
  kv::SessionCounters counters() const override { return parts_.session->counters(); }

 private:
  // Without the gate. Errors: as statfs().
  Result<SpaceUse> space_at(const std::optional<Handle>& at);
  // Takes over what an ended mount left, then removes its records. Several mounts may do it at the
  // same time. `name` for the log.
  Status recover_ended(MountId ended, const std::string& name);
  Status take_over(MountId ended);
  void end_threads();
  Status turning_sole();
  // Fills in what the heartbeat tells the other mounts.
  void report(records::HeartbeatRecord& record);
  Status erase_holds(MountId ended);
  Status write_end_record(std::vector<records::FileInUse> in_use);
  // Whether an inode without a name may still be used through this mount. Errors: kStale (its last
  // name is gone, and nobody here has had it open since).
  Status usable_without_name(const Handle& handle);
  // Errors: kNotSupported (the filesystem has none), those of usable_without_name().
  Status may_change_xattrs(const Handle& handle);
  void pause(int attempt);
  // An outcome leaves the mount only through the gate, with a sign of life. The function is to be
  // called when the request has come: an I/O that follows is such a sign. Errors: kShutdown.
  template <class T>
  Result<T> gated(Result<T> outcome);
  template <class T>
  std::function<void(Result<T>)> gated(std::function<void(Result<T>)> done);

  const env::Clock& clock_;
  env::SeededRandom random_;  // jitter of retries
  Parts parts_;
  OpenFiles open_files_;
  InoLease inos_;
  DirectoryFlights flights_;
  Context context_;
  FileCount file_count_;
  AccessTimes access_times_;
  std::atomic<bool> closed_{false};
  std::unique_ptr<OrphanWatch> orphan_watch_;
  std::unique_ptr<ShareModes> shares_;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::unique_ptr<OrphanSweep> sweep_;
  std::unique_ptr<LockClearing> lock_clearing_;
  std::unique_ptr<MembershipKeeper> keeper_;
  std::unique_ptr<UsageKeeper> usage_keeper_;
};

}  // namespace symnas::fs

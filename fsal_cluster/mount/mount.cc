#include "fsal_cluster/mount/mount.h"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/mount/cluster_mount.h"
#include "fsal_cluster/mount/gated_volume.h"
#include "fsal_cluster/state/mount_end.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

ClaimOptions claim_options(const env::Clock& clock, const MountOptions& options) {
  ClaimOptions out;
  out.fs = options.fs;
  out.filesystem_name = options.filesystem_name;
  out.guards = options.guards;
  out.record.set_head(options.head);
  out.record.set_vnfs(options.vnfs);
  out.record.set_vnfs_id(options.vnfs_id.value());
  out.record.set_epoch(options.epoch.value());
  out.record.set_head_incarnation(options.head_incarnation);
  out.record.set_pid(::getpid());
  out.record.set_created_ns(clock.wall_ns());
  out.record.set_answers_ms(kLifeWindowNs / 1'000'000);
  return out;
}

kv::SessionOptions session_options(FsId fs, const Claim& claim, const MountOptions& options,
                                   std::shared_ptr<const kv::QuotaGauge> quota,
                                   std::vector<kv::SessionOptions::Followed> followed) {
  kv::SessionOptions out;
  out.session_id = std::string(kMountSession);
  out.slot_prefix = kv::keys::mount_slots(fs, claim.id);
  out.slots_armed_at = claim.create_revision;
  out.watched = kv::keys::watched(fs);
  out.stamp_key = kv::keys::stamp(fs);
  out.mount_key = kv::keys::mount(fs, claim.id);
  out.mount_create_revision = claim.create_revision;
  out.ended_key = kv::keys::mount_ended(fs, claim.id);
  out.guards = options.guards;
  out.quota = std::move(quota);
  out.followed = std::move(followed);
  return out;
}

// Reads the parts in parallel, because clients wait and no part needs what another one reads.
// Answers the orphans that exist; nullopt: they must be listed after the recovery, which makes
// more.
Result<std::optional<std::vector<Ino>>> read_parts(ClusterMount::Parts& parts,
                                                   const env::Clock& clock,
                                                   std::shared_ptr<cvm::VolumeIo> volume,
                                                   const MountOptions& options,
                                                   const Claim& claim) {
  const FsId fs{claim.filesystem.fsid()};
  kv::Session& session = *parts.session;
  // Every export begins at a directory, mostly at this one: it is read ahead.
  session.read_async({kv::keys::inode(fs, kRootIno), kv::keys::directory_times(fs, kRootIno)},
                     [](const Result<std::vector<kv::CachedValue>>&) {});
  const bool clean = std::ranges::all_of(
      claim.ended, [](const MountEntry& entry) { return entry.ended->clean(); });
  Result<std::unique_ptr<FileData>> data;
  Result<std::unique_ptr<FileLocks>> locks;
  Result<std::vector<Ino>> orphans;
  {
    const std::jthread of_locks([&] {
      locks = FileLocks::load(session, clock, fs, options.vnfs, parts.membership.get(),
                              parts.gate.get(), options.nfs_lease_s, parts.foreign_waits.get());
    });
    const std::jthread of_orphans([&] {
      if (clean) orphans = list_orphans(session, fs);
    });
    data = FileData::open(session, clock,
                          std::make_shared<GatedVolume>(std::move(volume), *parts.gate),
                          FileDataOptions{.fs = fs,
                                          .mount = claim.id,
                                          .membership = parts.membership.get(),
                                          .peers = parts.peers.get(),
                                          .tokens = parts.tokens.get(),
                                          .block_bytes = claim.filesystem.block_bytes(),
                                          .group_blocks = claim.filesystem.group_blocks(),
                                          .on_failed_flush = options.on_ended,
                                          .quotas = parts.quotas.get()});
  }
  SYMNAS_ASSIGN(parts.data, std::move(data));
  SYMNAS_ASSIGN(parts.locks, std::move(locks));
  SYMNAS_TRY(orphans);
  if (!clean) return std::nullopt;
  return std::optional(std::move(*orphans));
}

Result<std::unique_ptr<ClusterMount>> open_claimed(kv::Store& store, const env::Clock& clock,
                                                   std::shared_ptr<cvm::VolumeIo> volume,
                                                   const MountOptions& options, Claim claim,
                                                   std::int64_t claim_sent_ns) {
  const FsId fs{claim.filesystem.fsid()};
  SYMNAS_ASSIGN(NameHasher hasher, NameHasher::create(claim.filesystem.name_hash_key()));
  ClusterMount::Parts parts;
  parts.hasher = hasher;
  parts.gate = std::make_unique<Gate>(clock, claim_sent_ns, kGateWindowNs);
  parts.touch = std::make_unique<LunTouch>(volume, *parts.gate, options.on_ended);
  parts.membership = std::make_unique<Membership>(claim.mode);
  parts.peers = std::make_unique<Peers>(fs, claim.id);
  parts.orphans = std::make_unique<OpenOrphans>(fs);
  parts.tokens = std::make_unique<TokenTable>(fs, claim.id);
  parts.share_table = std::make_unique<ShareTable>(fs, claim.id);
  parts.lock_orders = std::make_unique<LockOrders>(clock, fs, options.vnfs);
  parts.foreign_waits = std::make_unique<ForeignWaits>(clock, fs, options.vnfs);
  parts.release_locks = options.release_locks;
  parts.vnfs = options.vnfs_id;
  parts.vnfs_name = options.vnfs;
  parts.nfs_lease_s = options.nfs_lease_s;
  parts.records_access_times = options.records_access_times;
  const auto quota = std::make_shared<kv::QuotaGauge>(options.etcd_quota_bytes);
  parts.quota = std::make_unique<QuotaWatch>(store, quota);
  parts.usage = std::make_unique<UsageTable>(fs);
  SYMNAS_ASSIGN(
      auto session,
      kv::Session::open(store, clock,
                        session_options(fs, claim, options, quota,
                                        {parts.peers->followed(), parts.orphans->followed(),
                                         parts.tokens->followed(), parts.share_table->followed(),
                                         parts.lock_orders->followed(),
                                         parts.foreign_waits->followed(), parts.usage->followed()}),
                        options.on_ended, kAdminDeadlineMs));
  parts.session =
      std::make_unique<AccountingSession>(std::move(session), *parts.usage, fs, claim.id);
  parts.quotas = std::make_unique<Quotas>(
      *parts.usage,
      Quotas::Means{.block_bytes = claim.filesystem.block_bytes(),
                    .others = [peers = parts.peers.get()] { return !peers->no_others(); },
                    .now_ns = [session = parts.session.get()] { return session->next_time_ns(); },
                    .barrier = [session = parts.session.get()] { return session->barrier(); },
                    .filesystem = options.filesystem_name});
  SYMNAS_ASSIGN(auto orphans, read_parts(parts, clock, std::move(volume), options, claim));
  parts.replies = std::make_unique<Replies>(
      *parts.session, clock,
      Replies::Options{.fs = fs, .vnfs = options.vnfs_id, .epoch = options.epoch});
  parts.proof = {options.guards, options.on_ended, [touch = parts.touch.get()] { touch->begin(); }};
  parts.claim = std::move(claim);
  auto mount = std::make_unique<ClusterMount>(clock, std::move(parts));
  SYMNAS_TRY(mount->recover(std::move(orphans)));
  return mount;
}

}  // namespace

Result<std::unique_ptr<Mount>> Mount::open(kv::Store& store, const env::Clock& clock,
                                           std::shared_ptr<cvm::VolumeIo> volume,
                                           MountOptions options) {
  const std::int64_t claim_sent_ns = clock.mono_ns();
  SYMNAS_ASSIGN(Claim claim, claim_mount(store, claim_options(clock, options), kAdminDeadlineMs));
  const FsId fs{claim.filesystem.fsid()};
  const MountId id = claim.id;
  auto mount =
      open_claimed(store, clock, std::move(volume), options, std::move(claim), claim_sent_ns);
  if (mount) return std::unique_ptr<Mount>(std::move(*mount));
  // No request was served and no I/O is under way: so the claim may be given back, and the next try
  // is not refused.
  const Status given_back =
      end_mount(store, clock, fs, id, EndProof{"self", "clean close: the mount was not opened"});
  if (!given_back)
    log::warn("filesystem {}: mount {} could not be ended: {}", options.filesystem_name, id.value(),
              given_back.error().message);
  return tl::unexpected<Error>(std::move(mount.error()));
}

}  // namespace symnas::fs

#include "fsal_cluster/state/mount_end.h"

#include <optional>
#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/schema/stamp.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

std::string end_record(const env::Clock& clock, const EndProof& proof) {
  records::EndRecord record;
  record.set_by(proof.by);
  record.set_proof(proof.proof);
  record.set_ended_ns(clock.wall_ns());
  return record.SerializeAsString();
}

kv::Txn plan_end(FsId fs, MountId mount, StampAdvance stamp, std::string record) {
  kv::Txn txn;
  txn.compares = {kv::key_exists(kv::keys::mount(fs, mount)),
                  kv::key_absent(kv::keys::mount_ended(fs, mount)), std::move(stamp.compare)};
  txn.success = {kv::put(kv::keys::mount_ended(fs, mount), std::move(record)),
                 std::move(stamp.put)};
  return txn;
}

struct EndView {
  bool nothing_to_do = false;
  kv::OpResult stamp;
};

Result<EndView> read_end_view(kv::Store& store, FsId fs, MountId mount) {
  kv::Txn txn;
  txn.success = {kv::get(kv::keys::mount(fs, mount)), kv::get(kv::keys::mount_ended(fs, mount)),
                 kv::get(kv::keys::stamp(fs))};
  SYMNAS_ASSIGN(kv::TxnResult read, kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs));
  const bool removed = read.results[0].kvs.empty();
  const bool ended = !read.results[1].kvs.empty();
  return EndView{removed || ended, std::move(read.results[2])};
}

Result<Filesystems> list_filesystems(kv::Store& store) {
  SYMNAS_ASSIGN(
      kv::OpResult found,
      kv::range_blocking(store, kv::prefix_range(kv::keys::kFilesystems), 0, kAdminDeadlineMs));
  Filesystems out;
  for (const kv::KeyValue& kv : found.kvs) {
    SYMNAS_ASSIGN(records::FilesystemRecord record,
                  parse_record<records::FilesystemRecord>(kv.value, kv.key));
    out.emplace(record.name(), FsId{record.fsid()});
  }
  return out;
}

}  // namespace

Status end_mount(kv::Store& store, const env::Clock& clock, FsId fs, MountId mount,
                 const EndProof& proof) {
  std::optional<Error> full;
  for (int attempt = 0; attempt < kConflictRetriesMax; ++attempt) {
    SYMNAS_ASSIGN(const EndView view, read_end_view(store, fs, mount));
    if (view.nothing_to_do) return {};
    if (full) return tl::unexpected<Error>(*full);
    const auto done = kv::txn_blocking(
        store,
        plan_end(fs, mount, advance_stamp(fs, view.stamp, attempt), end_record(clock, proof)),
        kAdminDeadlineMs);
    if (done && done->succeeded) return {};
    if (!done && !kv::maybe_executed(done.error())) return tl::unexpected<Error>(done.error());
    if (!done && done.error().code == ErrorCode::kNoSpace) full = done.error();
  }
  return fail(ErrorCode::kConflict, "mount " + std::to_string(mount.value()) +
                                        ": its end record was not written; try again");
}

Result<std::vector<MountOf>> living_mounts(kv::Store& store, const Filesystems& filesystems) {
  std::vector<FsId> ids;
  for (const auto& [name, id] : filesystems) ids.push_back(id);
  SYMNAS_ASSIGN(auto mounts_of_each, list_mounts_of_each(store, ids));
  std::vector<MountOf> out;
  auto found = mounts_of_each.begin();
  for (const auto& [name, id] : filesystems) {
    for (MountEntry& mount : *found++)
      if (mount.alive()) out.push_back(MountOf{name, id, std::move(mount)});
  }
  return out;
}

Result<std::vector<MountOf>> living_mounts(kv::Store& store) {
  SYMNAS_ASSIGN(const Filesystems filesystems, list_filesystems(store));
  return living_mounts(store, filesystems);
}

std::vector<MountOf> mounts_of(std::vector<MountOf> mounts, VnfsId vnfs, Epoch epoch_max) {
  std::erase_if(mounts, [&](const MountOf& one) {
    return one.mount.record.vnfs_id() != vnfs.value() ||
           one.mount.record.epoch() > epoch_max.value();
  });
  return mounts;
}

Result<std::vector<MountOf>> end_mounts_of(kv::Store& store, const env::Clock& clock, VnfsId vnfs,
                                           Epoch epoch_max, const EndProof& proof) {
  SYMNAS_ASSIGN(std::vector<MountOf> all, living_mounts(store));
  std::vector<MountOf> living = mounts_of(std::move(all), vnfs, epoch_max);
  for (const MountOf& mount : living) {
    SYMNAS_TRY(end_mount(store, clock, mount.fs, mount.mount.id, proof));
  }
  return living;
}

}  // namespace symnas::fs

#include "fsal_cluster/schema/filesystem.h"

#include <optional>

#include "common/base/uuid.h"
#include "common/kv/keys.h"
#include "common/kv/repair_keys.h"
#include "fsal_cluster/schema/counter.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/schema/mount_entry.h"
#include "fsal_cluster/schema/stamp.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

std::string text_of(const Uuid& uuid) {
  return std::string(reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size());
}

std::string key_of(const std::string& name) { return kv::keys::kFilesystems + name; }

kv::Compare range_unchanged_since(kv::KeyRange range, Revision revision) {
  kv::Compare compare;
  compare.range = std::move(range);
  compare.target = kv::Compare::Target::kModRevision;
  compare.relation = kv::Compare::Relation::kLess;
  compare.number = revision.value() + 1;
  return compare;
}

records::FilesystemRecord new_record(const FormatOptions& options) {
  records::FilesystemRecord record;
  record.set_name(options.name);
  record.set_volume(options.volume);
  record.set_uuid(text_of(Uuid::generate()));
  record.set_name_hash_key(text_of(Uuid::generate()));
  record.set_schema_version(kSchemaVersion);
  record.set_block_bytes(kFormatBlockBytes);
  record.set_group_blocks(options.group_blocks);
  record.set_access_times(options.access_times);
  record.set_acls_and_xattrs(options.acls_and_xattrs);
  return record;
}

records::Inode root_inode(const FormatOptions& options, std::int64_t now_ns) {
  records::Inode root;
  root.set_type(static_cast<std::uint32_t>(FileType::kDirectory));
  root.set_mode(options.root_mode);
  root.set_uid(options.root_uid);
  root.set_gid(options.root_gid);
  root.set_nlink(1);
  root.set_generation(1);
  root.set_parent(kRootIno.value());
  root.set_atime_ns(now_ns);
  root.set_mtime_ns(now_ns);
  root.set_ctime_ns(now_ns);
  return root;
}

// The filesystem that occupies the volume, or an empty string.
Result<std::string> occupant(const kv::OpResult& filesystems, const std::string& volume) {
  for (const kv::KeyValue& kv : filesystems.kvs) {
    SYMNAS_ASSIGN(records::FilesystemRecord other,
                  parse_record<records::FilesystemRecord>(kv.value, kv.key));
    if (other.volume() == volume) return other.name();
  }
  return std::string();
}

struct FormatView {
  kv::OpResult name;
  kv::OpResult volume;
  kv::OpResult filesystems;
  kv::OpResult fsid_counter;
  Revision revision;
};

Result<FormatView> read_format_view(kv::Store& store, const FormatOptions& options) {
  kv::Txn txn;
  txn.success = {kv::get(key_of(options.name)), kv::get(kv::keys::kVolumes + options.volume),
                 kv::get_range(kv::prefix_range(kv::keys::kFilesystems)),
                 kv::get(kv::keys::kFsIdCounter)};
  SYMNAS_ASSIGN(kv::TxnResult read, kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs));
  return FormatView{read.results[0], read.results[1], read.results[2], read.results[3],
                    read.revision};
}

Result<kv::Txn> plan_format(const FormatView& view, const FormatOptions& options,
                            records::FilesystemRecord& record, std::int64_t now_ns) {
  const std::string volume_key = kv::keys::kVolumes + options.volume;
  if (view.volume.kvs.empty())
    return fail(ErrorCode::kNotFound, "filesystem " + options.name + ": no volume " +
                                          options.volume + "; see `symnas volume ls`");
  SYMNAS_ASSIGN(const std::string other, occupant(view.filesystems, options.volume));
  if (!other.empty())
    return fail(ErrorCode::kBusy, "filesystem " + options.name + ": volume " + options.volume +
                                      " already carries filesystem " + other +
                                      "; create another volume");
  SYMNAS_ASSIGN(const Counter fsid, parse_counter(kv::keys::kFsIdCounter, view.fsid_counter));
  const FsId fs{static_cast<std::uint32_t>(fsid.next)};
  record.set_fsid(fs.value());

  kv::Txn txn;
  txn.compares = {
      kv::key_absent(key_of(options.name)),
      kv::mod_revision_is(volume_key, view.volume.kvs.front().mod_revision),
      range_unchanged_since(kv::prefix_range(kv::keys::kFilesystems), view.revision),
      counter_unchanged(kv::keys::kFsIdCounter, fsid),
  };
  txn.success = {
      kv::put(key_of(options.name), record.SerializeAsString()),
      counter_advanced(kv::keys::kFsIdCounter, fsid, 1),
      kv::put(kv::keys::inode(fs, kRootIno), root_inode(options, now_ns).SerializeAsString()),
      kv::put(kv::keys::stamp(fs), encode_stamp(now_ns)),
      kv::put(kv::keys::next_ino(fs), std::to_string(kFirstIno)),
  };
  return txn;
}

// Deletes the keys of the range step by step, so that no transaction is long.
Status erase_in_steps(kv::Store& store, const kv::KeyRange& range) {
  for (;;) {
    kv::Op look = kv::get_range(range, kRemoveStepKeys);
    look.keys_only = true;
    kv::Txn read;
    read.success = {look};
    SYMNAS_ASSIGN(kv::TxnResult found, kv::txn_blocking(store, std::move(read), kAdminDeadlineMs));
    const kv::OpResult& page = found.results.front();
    if (page.kvs.empty()) return {};
    kv::Txn step;
    step.success = {kv::erase_range(
        kv::KeyRange{page.kvs.front().key, page.kvs.back().key + std::string(1, '\0')})};
    const auto erased = kv::txn_blocking(store, std::move(step), kAdminDeadlineMs);
    if (!erased && !kv::maybe_executed(erased.error()))  // else the next look tells
      return tl::unexpected<Error>(erased.error());
  }
}

struct RemoveView {
  records::FilesystemRecord record;
  Revision mod_revision;
  std::vector<MountEntry> mounts;
  Revision claim_mod_revision;
};

Result<RemoveView> read_remove_view(kv::Store& store, const std::string& name) {
  SYMNAS_ASSIGN(kv::OpResult read,
                kv::range_blocking(store, kv::single_key(key_of(name)), 1, kAdminDeadlineMs));
  if (read.kvs.empty())
    return fail(ErrorCode::kNotFound,
                "filesystem " + name + ": does not exist; see `symnas fs ls`");
  RemoveView view;
  SYMNAS_ASSIGN(view.record, parse_record<records::FilesystemRecord>(read.kvs.front().value, name));
  view.mod_revision = read.kvs.front().mod_revision;
  const FsId fs{view.record.fsid()};
  kv::Txn txn;  // the claim key and the mounts at one revision
  txn.success = {kv::get(kv::keys::mount_claim(fs)),
                 kv::get_range(kv::prefix_range(kv::keys::mounts(fs)), kMountPageKeys)};
  SYMNAS_ASSIGN(kv::TxnResult state, kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs));
  if (!state.results[0].kvs.empty())
    view.claim_mod_revision = state.results[0].kvs.front().mod_revision;
  SYMNAS_TRY(read_other_mounts(store, fs, state.results[1]));
  SYMNAS_ASSIGN(view.mounts, parse_mounts(fs, state.results[1]));
  return view;
}

kv::Txn plan_mark(const RemoveView& view, const std::string& name,
                  const std::vector<kv::Compare>& guards) {
  records::FilesystemRecord marked = view.record;
  marked.set_removing(true);
  kv::Txn txn;
  txn.compares = guards;
  txn.compares.push_back(kv::mod_revision_is(key_of(name), view.mod_revision));
  txn.compares.push_back(kv::mod_revision_is(kv::keys::mount_claim(FsId{view.record.fsid()}),
                                             view.claim_mod_revision));
  txn.success = {kv::put(key_of(name), marked.SerializeAsString())};
  return txn;
}

}  // namespace

Result<records::FilesystemRecord> format_filesystem(kv::Store& store, const env::Clock& clock,
                                                    const FormatOptions& options) {
  records::FilesystemRecord record = new_record(options);
  std::optional<Error> full;
  for (int attempt = 0; attempt < kConflictRetriesMax; ++attempt) {
    SYMNAS_ASSIGN(const FormatView view, read_format_view(store, options));
    if (!view.name.kvs.empty()) {
      SYMNAS_ASSIGN(
          records::FilesystemRecord found,
          parse_record<records::FilesystemRecord>(view.name.kvs.front().value, options.name));
      if (found.uuid() == record.uuid()) return found;  // ours: an earlier reply was lost
      return fail(ErrorCode::kAlreadyExists, "filesystem " + options.name + ": exists already");
    }
    if (full) return tl::unexpected<Error>(*full);
    SYMNAS_ASSIGN(kv::Txn txn, plan_format(view, options, record, clock.wall_ns()));
    const auto done = kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs);
    if (done && done->succeeded) return record;
    if (!done && !kv::maybe_executed(done.error())) return tl::unexpected<Error>(done.error());
    if (!done && done.error().code == ErrorCode::kNoSpace) full = done.error();
  }
  return fail(ErrorCode::kConflict,
              "filesystem " + options.name + ": others kept changing filesystems; try again");
}

Status remove_filesystem(kv::Store& store, const std::string& name,
                         const std::vector<kv::Compare>& guards) {
  SYMNAS_ASSIGN(RemoveView view, read_remove_view(store, name));
  for (int attempt = 0; !view.record.removing(); ++attempt) {
    if (const MountEntry* mount = first_alive(view.mounts))
      return fail(ErrorCode::kBusy, "filesystem " + name + ": mounted by " + describe(*mount) +
                                        "; remove its exports first");
    const auto marked = kv::txn_blocking(store, plan_mark(view, name, guards), kAdminDeadlineMs);
    if (!marked && !kv::maybe_executed(marked.error()))
      return tl::unexpected<Error>(marked.error());
    SYMNAS_ASSIGN(view, read_remove_view(store, name));
    if (!view.record.removing() && !marked && marked.error().code == ErrorCode::kNoSpace)
      return tl::unexpected<Error>(marked.error());
    if (!view.record.removing() && attempt >= 2)  // a guard, or a claim: the caller looks again
      return fail(ErrorCode::kConflict,
                  "filesystem " + name + ": exports or mounts changed meanwhile; look and retry");
  }
  SYMNAS_TRY(
      erase_in_steps(store, kv::prefix_range(kv::keys::filesystem(FsId{view.record.fsid()}))));
  SYMNAS_TRY(
      erase_in_steps(store, kv::prefix_range(kv::keys::repairs_of(FsId{view.record.fsid()}))));
  kv::Txn last;
  last.compares = {kv::mod_revision_is(key_of(name), view.mod_revision)};
  last.success = {kv::erase(key_of(name))};
  const auto erased = kv::txn_blocking(store, std::move(last), kAdminDeadlineMs);
  return erased ? Status() : Status(tl::unexpected<Error>(erased.error()));
}

}  // namespace symnas::fs

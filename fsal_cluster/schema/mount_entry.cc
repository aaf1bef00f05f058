#include "fsal_cluster/schema/mount_entry.h"

#include <algorithm>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {

Result<std::vector<MountEntry>> parse_mounts(FsId fs, const kv::OpResult& read) {
  if (read.more)
    return fail(ErrorCode::kInternal,
                "filesystem id " + std::to_string(fs.value()) + ": its list of mounts was cut");
  const std::size_t prefix = kv::keys::mounts(fs).size();
  std::vector<MountEntry> out;
  for (const kv::KeyValue& kv : read.kvs) {
    if (kv.key.size() < prefix + 8)
      return fail(ErrorCode::kCorrupt, "mount key " + to_hex(kv.key) + ": too short");
    const MountId id{read_be64(kv.key, prefix)};
    const std::string name = "mount " + std::to_string(id.value());
    if (kv.key == kv::keys::mount(fs, id)) {
      SYMNAS_ASSIGN(records::MountRecord record,
                    parse_record<records::MountRecord>(kv.value, name));
      out.push_back(MountEntry{id, std::move(record), kv.create_revision, std::nullopt});
    } else if (kv.key == kv::keys::mount_ended(fs, id) && !out.empty() && out.back().id == id) {
      SYMNAS_ASSIGN(out.back().ended, parse_record<records::EndRecord>(kv.value, name + " end"));
    }  // an end record without its mount: a recovery was cut short; nothing depends on it
  }
  return out;
}

Status read_other_mounts(kv::Store& store, FsId fs, kv::OpResult& read) {
  kv::KeyRange rest = kv::prefix_range(kv::keys::mounts(fs));
  while (read.more && !read.kvs.empty()) {
    rest.key = read.kvs.back().key + std::string(1, '\0');
    SYMNAS_ASSIGN(kv::OpResult page,
                  kv::range_blocking(store, rest, kMountPageKeys, kAdminDeadlineMs));
    for (kv::KeyValue& kv : page.kvs) read.kvs.push_back(std::move(kv));
    read.more = page.more && !page.kvs.empty();
  }
  return {};
}

Result<std::vector<MountEntry>> list_mounts(kv::Store& store, FsId fs) {
  SYMNAS_ASSIGN(auto of_each, list_mounts_of_each(store, {fs}));
  return std::move(of_each.front());
}

Result<std::vector<std::vector<MountEntry>>> list_mounts_of_each(
    kv::Store& store, const std::vector<FsId>& filesystems) {
  std::vector<std::vector<MountEntry>> out;
  while (out.size() < filesystems.size()) {
    const std::size_t begin = out.size();
    const std::size_t end = std::min(filesystems.size(), begin + kFilesystemsAtOnce);
    kv::Txn txn;
    for (std::size_t i = begin; i < end; ++i)
      txn.success.push_back(
          kv::get_range(kv::prefix_range(kv::keys::mounts(filesystems[i])), kMountPageKeys));
    SYMNAS_ASSIGN(kv::TxnResult read, kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs));
    for (std::size_t i = begin; i < end; ++i) {
      kv::OpResult& first = read.results[i - begin];
      SYMNAS_TRY(read_other_mounts(store, filesystems[i], first));
      SYMNAS_ASSIGN(std::vector<MountEntry> mounts, parse_mounts(filesystems[i], first));
      out.push_back(std::move(mounts));
    }
  }
  return out;
}

std::string describe(const MountEntry& mount) {
  return mount.record.vnfs() + " on head " + mount.record.head() + " (mount " +
         std::to_string(mount.id.value()) + ", epoch " + std::to_string(mount.record.epoch()) + ")";
}

const MountEntry* first_alive(const std::vector<MountEntry>& mounts) {
  const auto found = std::find_if(mounts.begin(), mounts.end(),
                                  [](const MountEntry& mount) { return mount.alive(); });
  return found == mounts.end() ? nullptr : &*found;
}

}  // namespace symnas::fs

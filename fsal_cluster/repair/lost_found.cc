#include <fmt/core.h>

#include <charconv>

#include "fsal_cluster/repair/limits.h"
#include "fsal_cluster/repair/repairs.h"
#include "fsal_cluster/schema/dirent.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs::repair {
namespace {

namespace keys = kv::keys;

constexpr std::string_view kName = "lost+found";

std::string bucket_of(const Draft& draft, Ino directory, std::string_view name) {
  return keys::dirent_bucket(draft.fs(), directory, draft.facts().hasher->hash(name));
}

Result<records::DirentBucket> read_bucket(Draft& draft, const std::string& key) {
  SYMNAS_ASSIGN(const auto bucket,
                draft.rely_record<records::DirentBucket>(key, "the names of a directory"));
  return bucket.value_or(records::DirentBucket());
}

std::int64_t time_of(const std::optional<std::string>& stamp) {
  return stamp && stamp->size() == 8 ? static_cast<std::int64_t>(read_be64(*stamp, 0)) : 0;
}

// Makes /lost+found; `bucket` of the root has no such name.
Result<Step> make_directory(Draft draft, records::DirentBucket bucket) {
  const std::string counter_key = keys::next_ino(draft.fs());
  SYMNAS_ASSIGN(const auto counter, draft.rely(counter_key));
  std::uint64_t next = 0;
  if (counter) std::from_chars(counter->data(), counter->data() + counter->size(), next);
  if (next < kFirstIno || next <= draft.facts().report->highest_ino)
    return std::move(draft).later("the counter of inode numbers is repaired first");
  SYMNAS_ASSIGN(const auto stamp, draft.snapshot().get(keys::stamp(draft.fs())));
  const std::int64_t now_ns = time_of(stamp ? std::optional(stamp->value) : std::nullopt);
  records::Inode inode;
  inode.set_type(static_cast<std::uint32_t>(FileType::kDirectory));
  inode.set_mode(0700);
  inode.set_nlink(1);
  inode.set_parent(kRootIno.value());
  inode.set_generation(draft.facts().report->context.next_mount - 1);
  inode.set_atime_ns(now_ns);
  inode.set_mtime_ns(now_ns);
  inode.set_ctime_ns(now_ns);
  SYMNAS_TRY(add_entry(bucket, kName, Ino{next}, FileType::kDirectory));
  SYMNAS_TRY(draft.put(counter_key, std::to_string(next + 1)));
  SYMNAS_TRY(draft.put_inode(Ino{next}, inode));
  SYMNAS_TRY(draft.put(bucket_of(draft, kRootIno, kName), bucket.SerializeAsString()));
  draft.changes_directory(kRootIno);
  return std::move(draft).repair(
      Order::kCounts,
      "makes the directory /lost+found (mode 0700, root) that what has no name is put into next");
}

}  // namespace

Result<Step> move_to_lost_found(Draft draft, Ino ino, records::Inode inode) {
  const std::string number = std::to_string(ino.value());
  if (ino.value() < kFirstIno)
    return std::move(draft).refuse(
        "its inode number is reserved, no file may have it: restore the filesystem's records from "
        "an etcd snapshot, or erase its key by hand");
  SYMNAS_ASSIGN(const auto root, draft.rely_inode(kRootIno));
  if (!root) return std::move(draft).later("the root directory is repaired first");
  SYMNAS_ASSIGN(records::DirentBucket names, read_bucket(draft, bucket_of(draft, kRootIno, kName)));
  const records::Dirent* entry = find_entry(names, kName);
  if (entry == nullptr) return make_directory(std::move(draft), std::move(names));
  const Ino directory{entry->ino()};
  SYMNAS_ASSIGN(const auto found, draft.rely_inode(directory));
  if (!found) return std::move(draft).later("the name 'lost+found' leads to nothing: that first");
  if (found->type() != static_cast<std::uint32_t>(FileType::kDirectory))
    return std::move(draft).refuse(
        "there is a file with the name /lost+found: rename it, then run the repair again");
  const std::string name = "#" + number;
  const std::string key = bucket_of(draft, directory, name);
  SYMNAS_ASSIGN(records::DirentBucket bucket, read_bucket(draft, key));
  if (find_entry(bucket, name) != nullptr)
    return std::move(draft).refuse("/lost+found has another file with the name '" + name +
                                   "': rename it, then run the repair again");
  SYMNAS_TRY(add_entry(bucket, name, ino, static_cast<FileType>(inode.type())));
  inode.set_nlink(1);
  if (inode.type() == static_cast<std::uint32_t>(FileType::kDirectory)) {
    inode.set_parent(directory.value());
    SYMNAS_TRY(draft.put(keys::directory_move(draft.fs()), ""));
  }
  SYMNAS_TRY(draft.put(key, bucket.SerializeAsString()));
  SYMNAS_TRY(draft.put_inode(ino, inode));
  draft.changes_directory(directory);
  return std::move(draft).repair(Order::kCounts, "gets the name /lost+found/" + name);
}

}  // namespace symnas::fs::repair

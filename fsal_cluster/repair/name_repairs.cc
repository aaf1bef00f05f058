#include <fmt/core.h>

#include <algorithm>
#include <bitset>

#include "fsal_cluster/repair/repairs.h"
#include "fsal_cluster/schema/dirent.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs::repair {
namespace {

namespace keys = kv::keys;
using check::Fault;

// The bucket of the finding.
std::string key_of(const Draft& draft) {
  return keys::dirent_bucket(draft.fs(), draft.finding().ino, draft.damage().value);
}

Result<records::DirentBucket> bucket_of(Draft& draft) {
  SYMNAS_ASSIGN(const auto bucket,
                draft.rely_record<records::DirentBucket>(key_of(draft), "the directory's names"));
  if (!bucket) return fail(ErrorCode::kCorrupt, "the names are gone meanwhile");
  return *bucket;
}

Status put_bucket(Draft& draft, const std::string& key, const records::DirentBucket& bucket) {
  draft.changes_directory(draft.finding().ino);
  if (bucket.entries_size() == 0) return draft.erase(key);
  return draft.put(key, bucket.SerializeAsString());
}

void drop(records::DirentBucket& bucket, int index) {
  bucket.mutable_entries()->DeleteSubrange(index, 1);
}

// Index of the last entry with the finding's name (and target, if not 0); -1: none.
int last_entry(const Draft& draft, const records::DirentBucket& bucket, std::uint64_t target) {
  for (int i = bucket.entries_size() - 1; i >= 0; --i) {
    const records::Dirent& entry = bucket.entries(i);
    if (entry.name() == draft.damage().name && (target == 0 || entry.ino() == target)) return i;
  }
  return -1;
}

Result<Step> remove(Draft draft, std::uint64_t target, std::string text) {
  SYMNAS_ASSIGN(records::DirentBucket bucket, bucket_of(draft));
  const int at = last_entry(draft, bucket, target);
  if (at < 0) return std::move(draft).later("another repair of the same names comes first");
  drop(bucket, at);
  SYMNAS_TRY(put_bucket(draft, key_of(draft), bucket));
  return std::move(draft).repair(Order::kNames, std::move(text));
}

Result<Step> name_of_nothing(Draft draft) {
  const Ino target{draft.damage().other};
  if (target == kRootIno || draft.facts().has(target, Fault::kNamesWithoutDirectory))
    return std::move(draft).later("the directory that it leads to is made anew");
  SYMNAS_ASSIGN(const auto inode, draft.rely(keys::inode(draft.fs(), target)));
  if (inode) return std::move(draft).later("the inode is there: look again");
  const std::uint64_t ino = target.value();
  return remove(std::move(draft), ino,
                "removes the name: inode numbers are never used again, nothing can come back");
}

Result<Step> name_type(Draft draft) {
  const Ino target{draft.damage().other};
  if (draft.facts().has(target, Fault::kNamesOfNoDirectory))
    return std::move(draft).refuse(
        "the name says that it is a directory, and it has names: its type may be the wrong one; "
        "restore its record from an etcd snapshot");
  SYMNAS_ASSIGN(const auto inode, draft.rely_inode(target));
  SYMNAS_ASSIGN(records::DirentBucket bucket, bucket_of(draft));
  if (!inode) return std::move(draft).later("another repair of the name comes first");
  // The name may be there twice: the one with the wrong type is meant.
  int at = bucket.entries_size() - 1;
  while (at >= 0 && !(bucket.entries(at).name() == draft.damage().name &&
                      bucket.entries(at).ino() == target.value() &&
                      bucket.entries(at).type() != inode->type()))
    --at;
  if (at < 0) return std::move(draft).later("another repair of the name comes first");
  bucket.mutable_entries(at)->set_type(inode->type());
  SYMNAS_TRY(put_bucket(draft, key_of(draft), bucket));
  return std::move(draft).repair(Order::kNames, "gives the name the type that the inode has");
}

// To the bucket of the name's hash.
Result<Step> move_name(Draft draft, std::uint64_t hash) {
  SYMNAS_ASSIGN(records::DirentBucket from, bucket_of(draft));
  const int at = last_entry(draft, from, 0);
  if (at < 0) return std::move(draft).later("another repair of the name comes first");
  const records::Dirent entry = from.entries(at);
  const std::string to_key = keys::dirent_bucket(draft.fs(), draft.finding().ino, hash);
  SYMNAS_ASSIGN(const auto there,
                draft.rely_record<records::DirentBucket>(to_key, "the directory's names"));
  records::DirentBucket to = there.value_or(records::DirentBucket());
  if (const records::Dirent* other = find_entry(to, entry.name()); other == nullptr) {
    const Status added =
        add_entry(to, entry.name(), Ino{entry.ino()}, static_cast<FileType>(entry.type()));
    if (!added) return std::move(draft).refuse(added.error().message);
    SYMNAS_TRY(draft.put(to_key, to.SerializeAsString()));
  } else if (other->ino() != entry.ino()) {
    return std::move(draft).refuse(fmt::format(
        "the directory has the same name in its right place, for inode {}: which of both is meant "
        "cannot be proved; rename that one, then run the repair again",
        other->ino()));
  }
  drop(from, at);
  SYMNAS_TRY(put_bucket(draft, key_of(draft), from));
  return std::move(draft).repair(Order::kNames, "moves the name to the place of its hash");
}

// Gives each entry of the bucket a slot of its own, in ascending order.
Result<Step> number_slots(Draft draft) {
  SYMNAS_ASSIGN(records::DirentBucket bucket, bucket_of(draft));
  if (static_cast<std::size_t>(bucket.entries_size()) > kBucketEntriesMax)
    return std::move(draft).refuse("more names of one hash than there are slots: rename some");
  std::bitset<kBucketEntriesMax> used;
  std::vector<records::Dirent*> without;
  for (records::Dirent& entry : *bucket.mutable_entries()) {
    if (entry.slot() < kBucketEntriesMax && !used.test(entry.slot())) {
      used.set(entry.slot());
    } else {
      without.push_back(&entry);
    }
  }
  std::uint32_t free = 0;
  for (records::Dirent* entry : without) {
    while (used.test(free)) ++free;
    used.set(free);
    entry->set_slot(free);
  }
  std::sort(bucket.mutable_entries()->begin(), bucket.mutable_entries()->end(),
            [](const records::Dirent& a, const records::Dirent& b) { return a.slot() < b.slot(); });
  SYMNAS_TRY(put_bucket(draft, key_of(draft), bucket));
  return std::move(draft).repair(Order::kNames, "gives the name a slot of its own");
}

Result<Step> name_place(Draft draft) {
  const std::string name = draft.damage().name;
  if (draft.facts().has_value(Fault::kNameForm, draft.damage().value))
    return std::move(draft).later("a name beside it that is none is removed first");
  const std::uint64_t hash = draft.facts().hasher->hash(name);
  if (hash != draft.damage().value) return move_name(std::move(draft), hash);
  return number_slots(std::move(draft));
}

Result<Step> erase_bucket(Draft draft, std::string text) {
  SYMNAS_TRY(put_bucket(draft, key_of(draft), records::DirentBucket()));
  return std::move(draft).repair(Order::kNames, std::move(text));
}

Result<Step> bucket_form(Draft draft) {
  SYMNAS_ASSIGN(const records::DirentBucket bucket, bucket_of(draft));
  if (bucket.entries_size() > 0)
    return std::move(draft).later("its names are moved to the place of their hash");
  return erase_bucket(std::move(draft), "erases the empty record");
}

Result<Step> names_of_no_directory(Draft draft) {
  const Ino ino = draft.finding().ino;
  const auto types = draft.facts().by.find(Fault::kNameType);
  const bool doubtful =
      types != draft.facts().by.end() &&
      std::any_of(types->second.begin(), types->second.end(),
                  [&](const check::Finding* f) { return f->damage.other == ino.value(); });
  if (doubtful)
    return std::move(draft).refuse(
        "the name that leads to it says another type: it may be a directory with a damaged "
        "record; restore its record from an etcd snapshot");
  SYMNAS_ASSIGN(const auto inode, draft.rely_inode(ino));
  if (!inode) return std::move(draft).later("look again: it is gone");
  SYMNAS_TRY(draft.erase(key_of(draft)));
  return std::move(draft).repair(
      Order::kNames,
      "removes the names: no client can reach them; what has no other name goes to "
      "/lost+found next");
}

}  // namespace

Result<Step> repair_name(Draft draft) {
  if (!draft.facts().hasher)
    return std::move(draft).refuse(
        "the filesystem's record has no key of name hashes: restore it from an etcd snapshot");
  switch (draft.damage().fault) {
    case Fault::kUnreadableNames:
      return std::move(draft).refuse(
          "which names it held is not known: restore its key from an etcd snapshot (the files are "
          "still there; what has no other name goes to /lost+found once the record is erased)");
    case Fault::kNamesOfNoDirectory: return names_of_no_directory(std::move(draft));
    case Fault::kBucketForm: return bucket_form(std::move(draft));
    case Fault::kNameForm:
      return remove(std::move(draft), 0,
                    "removes the name, which no client can send; if the file has no other, it goes "
                    "to /lost+found next");
    case Fault::kNameTwice:
      return remove(std::move(draft), 0,
                    "removes the second one, which no client can reach; if its file has no other "
                    "name, it goes to /lost+found next");
    case Fault::kNamePlace: return name_place(std::move(draft));
    case Fault::kNameOfNothing: return name_of_nothing(std::move(draft));
    case Fault::kNameOfRoot:
      return remove(std::move(draft), kRootIno.value(),
                    "removes the name: the root directory is in no directory");
    case Fault::kNameType: return name_type(std::move(draft));
    default: return std::move(draft).refuse("no repair is known");
  }
}

}  // namespace symnas::fs::repair

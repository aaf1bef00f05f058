#include "fsal_cluster/schema/dirent.h"

#include "common/base/check.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

int index_of(const records::DirentBucket& bucket, std::string_view name) {
  for (int i = 0; i < bucket.entries_size(); ++i)
    if (bucket.entries(i).name() == name) return i;
  return -1;
}

}  // namespace

Status check_name(std::string_view name) {
  if (name.empty() || name == "." || name == "..")
    return fail(ErrorCode::kInvalidArgument,
                "name \"" + std::string(name) + "\": not allowed here");
  if (name.find('/') != name.npos || name.find('\0') != name.npos)
    return fail(ErrorCode::kInvalidArgument, "name: contains a slash or a NUL byte");
  if (name.size() > kNameBytesMax)
    return fail(ErrorCode::kNameTooLong, "name of " + std::to_string(name.size()) +
                                             " bytes: at most " + std::to_string(kNameBytesMax));
  return {};
}

const records::Dirent* find_entry(const records::DirentBucket& bucket, std::string_view name) {
  const int i = index_of(bucket, name);
  return i < 0 ? nullptr : &bucket.entries(i);
}

Status add_entry(records::DirentBucket& bucket, std::string_view name, Ino ino, FileType type) {
  CHECK(index_of(bucket, name) < 0, "a name is added once");
  int at = 0;  // entries are sorted by slot: the first index that differs from its slot is free
  while (at < bucket.entries_size() && bucket.entries(at).slot() == static_cast<unsigned>(at)) ++at;
  if (static_cast<std::size_t>(at) >= kBucketEntriesMax)
    return fail(ErrorCode::kNoSpace, "directory: 256 names already share one hash with \"" +
                                         std::string(name) + "\"; choose another name");
  records::Dirent* added = bucket.add_entries();
  added->set_slot(static_cast<std::uint32_t>(at));
  added->set_name(std::string(name));
  added->set_ino(ino.value());
  added->set_type(static_cast<std::uint32_t>(type));
  for (int i = bucket.entries_size() - 1; i > at; --i)
    bucket.mutable_entries()->SwapElements(i, i - 1);
  return {};
}

void replace_entry(records::DirentBucket& bucket, std::string_view name, Ino ino, FileType type) {
  const int i = index_of(bucket, name);
  CHECK(i >= 0, "only an existing name is replaced");
  bucket.mutable_entries(i)->set_ino(ino.value());
  bucket.mutable_entries(i)->set_type(static_cast<std::uint32_t>(type));
}

void remove_entry(records::DirentBucket& bucket, std::string_view name) {
  const int i = index_of(bucket, name);
  CHECK(i >= 0, "only an existing name is removed");
  bucket.mutable_entries()->DeleteSubrange(i, 1);
}

}  // namespace symnas::fs

// Names of one hash in one directory, and which names are allowed. Format:
// docs/formats/filesystem_records.md. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// Whether a name may be created or removed. Errors: kInvalidArgument ("", ".", "..", "/" or NUL
// inside), kNameTooLong (more than kNameBytesMax bytes).
Status check_name(std::string_view name);

// The entry of a name, or nullptr. Lives as long as the bucket is not changed.
const records::Dirent* find_entry(const records::DirentBucket& bucket, std::string_view name);

// Adds a name in the lowest free slot. REQUIRES: the name is not in the bucket.
// Errors: kNoSpace when all kBucketEntriesMax slots are taken.
Status add_entry(records::DirentBucket& bucket, std::string_view name, Ino ino, FileType type);
// Points an existing name at another inode. The name keeps its slot, and so its cookie. REQUIRES:
// the name is in the bucket.
void replace_entry(records::DirentBucket& bucket, std::string_view name, Ino ino, FileType type);
// REQUIRES: the name is in the bucket.
void remove_entry(records::DirentBucket& bucket, std::string_view name);

}  // namespace symnas::fs

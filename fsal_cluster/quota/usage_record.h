// Encoding of usage records and of the keys of quotas. Pure.
#pragma once

#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "fsal_cluster/quota/records.pb.h"
#include "fsal_cluster/quota/subject.h"

namespace symnas::fs {

std::string encode_usage(const Usages& usages);
// nullopt: not parsable, or of an unknown kind.
std::optional<Usages> decode_usage(const std::string& value);

// What a key of the quota table is of.
struct QuotaKey {
  enum class Part : char {
    kMode = 'C',
    kLimit = 'L',
    kGrace = 'G',
    kTree = 'T',
    kBase = 'B',
    kSlot = 'S'
  };
  Part part = Part::kMode;
  Subject subject;          // of a limit, a grace, a tree, a base
  std::uint32_t epoch = 0;  // of a base, a slot
  MountId mount;            // of a slot
  std::uint32_t slot = 0;
};
// nullopt: no key of the table, or one that this version does not know.
std::optional<QuotaKey> parse_quota_key(FsId fs, const std::string& key);

}  // namespace symnas::fs

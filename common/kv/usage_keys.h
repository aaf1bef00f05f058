// Keys of quotas: what a filesystem's inodes use, counted by subject, and the limits of it
// (docs/formats/quota_records.md). A subject is a kind (0 the filesystem, 1 a user, 2 a group, 3 a
// directory tree) and an id.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/kv/keys.h"

namespace symnas::kv::keys {

inline std::string quota_table(FsId fs) { return table(fs, 'w', 'U'); }
inline std::string quota_table(FsId fs, char part) {
  std::string key = quota_table(fs);
  key.push_back(part);
  return key;
}
inline std::string of_subject(std::string key, std::uint8_t kind, std::uint32_t id) {
  key.push_back(static_cast<char>(kind));
  append_be32(key, id);
  return key;
}
// Whether usage is counted, and since which epoch.
inline std::string quota_mode(FsId fs) { return quota_table(fs, 'C'); }
inline std::string quota_limits(FsId fs) { return quota_table(fs, 'L'); }
inline std::string quota_limit(FsId fs, std::uint8_t kind, std::uint32_t id) {
  return of_subject(quota_limits(fs), kind, id);
}
// Since when a subject is above its soft limits.
inline std::string quota_graces(FsId fs) { return quota_table(fs, 'G'); }
inline std::string quota_grace(FsId fs, std::uint8_t kind, std::uint32_t id) {
  return of_subject(quota_graces(fs), kind, id);
}
// Directory trees, by number.
inline std::string quota_trees(FsId fs) { return quota_table(fs, 'T'); }
inline std::string quota_tree(FsId fs, std::uint32_t id) {
  std::string key = quota_trees(fs);
  append_be32(key, id);
  return key;
}
// The usage that is in no slot.
inline std::string usage_bases(FsId fs) { return quota_table(fs, 'B'); }
inline std::string usage_bases(FsId fs, std::uint32_t epoch) {
  std::string key = usage_bases(fs);
  append_be32(key, epoch);
  return key;
}
inline std::string usage_base(FsId fs, std::uint32_t epoch, std::uint8_t kind, std::uint32_t id) {
  return of_subject(usage_bases(fs, epoch), kind, id);
}
// What one mount's transactions have added. An operation has a slot for itself while it is under
// way, so that operations of one batch write different keys.
inline std::string usage_slots(FsId fs) { return quota_table(fs, 'S'); }
inline std::string usage_slots(FsId fs, std::uint32_t epoch) {
  std::string key = usage_slots(fs);
  append_be32(key, epoch);
  return key;
}
inline std::string usage_slot(FsId fs, std::uint32_t epoch, MountId mount, std::uint32_t slot) {
  std::string key = usage_slots(fs, epoch);
  append_be64(key, mount.value());
  append_be32(key, slot);
  return key;
}

}  // namespace symnas::kv::keys

#include "fsal_cluster/state/served.h"

#include <algorithm>

#include "common/kv/keys.h"

namespace symnas::fs {

bool is_served(const std::vector<MountEntry>& mounts, const std::string& vnfs) {
  return std::ranges::any_of(mounts, [&vnfs](const MountEntry& mount) {
    return mount.alive() && mount.record.vnfs() == vnfs;
  });
}

Result<std::optional<Revision>> unserved_since(kv::Session& session, FsId fs,
                                               const std::string& vnfs) {
  SYMNAS_ASSIGN(const kv::OpResult claim,
                session.range(kv::single_key(kv::keys::mount_claim(fs)), 1));
  // Read after the claim key: a mount that is claimed after this read changes that key.
  SYMNAS_ASSIGN(const kv::OpResult read, session.range(kv::prefix_range(kv::keys::mounts(fs)), 0));
  SYMNAS_ASSIGN(const std::vector<MountEntry> mounts, parse_mounts(fs, read));
  if (is_served(mounts, vnfs)) return std::optional<Revision>();
  const Revision claimed = claim.kvs.empty() ? Revision{} : claim.kvs.front().mod_revision;
  return std::optional<Revision>(claimed);
}

kv::Compare no_claim_since(FsId fs, Revision claimed) {
  return kv::mod_revision_is(kv::keys::mount_claim(fs), claimed);
}

}  // namespace symnas::fs

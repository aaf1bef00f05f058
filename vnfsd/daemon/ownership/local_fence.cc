// Ownership: the local fence.
#include <future>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "fsal_cluster/state/mount_end.h"
#include "vnfsd/daemon/ownership/ownership.h"
#include "vnfsd/instance/files.h"
#include "vnfsd/instance/limits.h"
#include "vnfsd/instance/state_file.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd::daemon {
namespace {

fs::Filesystems filesystems_of(const ClusterView& view) {
  fs::Filesystems out;
  for (const auto& [name, filesystem] : view.filesystems)
    out.emplace(name, FsId{filesystem.record.fsid()});
  return out;
}

}  // namespace

// The LUNs of which the last instance of this boot was told; no instance before it runs any more.
Result<std::vector<instance::LunIdentity>> Ownership::opened_luns(const std::string& vnfs) const {
  const std::string path = instance::paths_for(head_.config, vnfs).state_file;
  const auto text = instance::read_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    return std::vector<instance::LunIdentity>{};
  }
  if (!text) return tl::unexpected<Error>(text.error());
  auto state = instance::parse_state(*text);
  if (!state) {
    return fail(state.error().code,
                fmt::format("vnfs {}: {}: {}, so it is not known on what its fence has to prove "
                            "(reboot this head: that does)",
                            vnfs, path, state.error().message));
  }
  if (state->incarnation != head_.incarnation) return std::vector<instance::LunIdentity>{};
  return std::move(state->luns);
}

// Read after the process was reaped: what it may have come to use is in there. Which filesystems
// there are is known but for the newest: their mounts are read at the same time.
Status Ownership::fence(const std::string& vnfs) {
  fs::Filesystems known;
  if (const auto seen = reader_.shown(); seen && *seen) known = filesystems_of(**seen);
  auto read = std::async(std::launch::async, [&] { return fs::living_mounts(head_.store, known); });
  SYMNAS_ASSIGN(const ClusterView view, reader_.fresh());
  auto mounts = read.get();
  if (const fs::Filesystems now = filesystems_of(view); now != known)
    mounts = fs::living_mounts(head_.store, now);
  const auto owner = view.owners.find(vnfs);
  // Nobody owns it: the last owner gave it up after its fence.
  if (owner == view.owners.end()) return {};
  const records::OwnerRecord& record = owner->second.record;
  // The mounts that this head had of the VNFS ended by its own release, or were proved to have
  // ended.
  if (record.head() != head_.config.head_name || !head_.check_not_removed(view)) return {};
  SYMNAS_ASSIGN(const auto* stored, find(view.vnfses, "vnfs", vnfs));
  const VnfsId id(record.vnfs_id());
  // The mounts to be ended are proved to have ended, whatever the records say of exports by now.
  SYMNAS_TRY(mounts);
  const auto living = fs::mounts_of(std::move(*mounts), id, Epoch(record.epoch()));
  std::set<std::string> volumes;
  for (std::string& volume : volumes_of_vnfs(view, stored->record))
    volumes.insert(std::move(volume));
  for (const fs::MountOf& mount : living) {
    SYMNAS_ASSIGN(const auto* filesystem, find(view.filesystems, "fs", mount.filesystem));
    volumes.insert(filesystem->record.volume());
  }
  std::vector<const cvm::records::LunRecord*> luns;
  for (const std::string& volume : volumes) {
    for (const auto* lun : luns_of_volume(view, volume)) luns.push_back(lun);
  }
  const auto opened = opened_luns(vnfs);
  if (!opened) return tl::unexpected<Error>(opened.error());
  SYMNAS_TRY(luns_.obtain_bytes(luns, *opened, id, instance::kFenceTryMs));
  const fs::EndProof proof{
      head_.config.head_name,
      fmt::format("killed, reaped, OFD locks obtained on {} LUNs", luns.size())};
  for (const fs::MountOf& mount : living) {
    SYMNAS_TRY(fs::end_mount(head_.store, head_.clock, mount.fs, mount.mount.id, proof));
    log::info("vnfs {}: fenced: ended {} of filesystem {}", vnfs, fs::describe(mount.mount),
              mount.filesystem);
  }
  return {};
}

}  // namespace symnas::vnfsd::daemon

#include "fsal_cluster/mount/access_times.h"

#include <chrono>
#include <string>
#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/mount/limits.h"
#include "fsal_cluster/schema/inode.h"

namespace symnas::fs {

bool relatime_fires(const records::Inode& inode, std::int64_t now_ns) {
  const std::int64_t atime = inode.atime_ns();
  // Set or changed since: that is newer than the read.
  if (atime >= now_ns || inode.ctime_ns() >= now_ns) return false;
  return atime <= inode.mtime_ns() || atime <= inode.ctime_ns() ||
         now_ns - atime >= kAccessTimeAgeNs;
}

records::Inode with_access_time(records::Inode inode, Revision mod_revision,
                                std::int64_t atime_ns) {
  inode.set_content_revision(content_revision(inode, mod_revision).value());
  inode.set_atime_ns(atime_ns);
  return inode;
}

AccessTimes::AccessTimes(kv::Session& session, const env::Clock& clock, FsId fs, bool enabled)
    : session_(session), clock_(clock), fs_(fs), enabled_(enabled) {
  constexpr std::int64_t kPauseNs = kAccessRoundMs * 1'000'000;
  if (!enabled_) return;
  loop_.start(kPauseNs, [this] {
    record();
    return kPauseNs;
  });
}

void AccessTimes::add(Ino ino) {
  const std::int64_t now_ns = clock_.wall_ns();
  const MutexLock lock(mutex_);
  if (noted_.size() < kAccessesNotedMax) noted_[ino] = now_ns;
}

std::size_t AccessTimes::record() {
  std::map<Ino, std::int64_t> noted;
  {
    const MutexLock lock(mutex_);
    noted.swap(noted_);
  }
  round_.fetch_add(1, std::memory_order_relaxed);
  std::size_t recorded = 0;
  std::size_t looked_at = 0;
  std::vector<std::pair<Ino, std::int64_t>> some;
  for (auto it = noted.begin(); it != noted.end() && looked_at < kAccessesPerRound;) {
    some.clear();
    for (; it != noted.end() && some.size() < kAccessesPerTransaction; ++it) some.push_back(*it);
    looked_at += some.size();
    recorded += record_some(some);
    if (loop_.stopping()) break;
  }
  return recorded;
}

// A file that somebody changes meanwhile has the others noted again by their next READ, too.
std::size_t AccessTimes::record_some(const std::vector<std::pair<Ino, std::int64_t>>& files) {
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kChanges;
  for (const auto& [ino, at_ns] : files) {
    const std::string key = kv::keys::inode(fs_, ino);
    const auto value = session_.read(key);
    if (!value) return 0;  // the mount ends
    const auto node = parse_node(ino, *value);
    if (!node || !*node || !(*node)->is_regular()) continue;
    if (!relatime_fires((*node)->record, at_ns)) continue;
    const Revision revision = (*node)->mod_revision;
    mutation.compares.push_back(kv::mod_revision_is(key, revision));
    mutation.writes.push_back(
        kv::put(key, with_access_time((*node)->record, revision, at_ns).SerializeAsString()));
  }
  if (mutation.writes.empty()) return 0;
  const std::size_t count = mutation.writes.size();
  const auto done = session_.commit_blocking(std::move(mutation));
  return done && done->succeeded ? count : 0;
}

}  // namespace symnas::fs

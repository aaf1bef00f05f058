#include "fsal_cluster/mount/orphan_watch.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/ops/orphan.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {

OrphanWatch::OrphanWatch(Context& context, const OpenOrphans& orphans, const Peers& peers,
                         Revision claimed)
    : context_(context), orphans_(orphans), peers_(peers), claimed_(claimed) {
  loop_.start(0, [this] { return (round() ? kKeeperPollMs : kKeeperRetryMs) * 1'000'000; });
}

Status OrphanWatch::hold(Ino ino) {
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.compares = {kv::key_exists(kv::keys::orphan(context_.fs, ino))};
  mutation.writes = {kv::put(kv::keys::hold(context_.fs, ino, context_.mount), "")};
  SYMNAS_ASSIGN(const kv::Committed done, context_.session.commit_blocking(std::move(mutation)));
  if (!done.succeeded) return {};  // removed: this mount had announced that it does not need it
  const MutexLock lock(mutex_);
  held_.insert(ino);
  return {};
}

Status OrphanWatch::let_go(Ino ino) {
  {
    const MutexLock lock(mutex_);
    // An open is counted before may_use() is asked: one that has come meanwhile is seen here.
    if (context_.open_files.is_open(ino)) return {};
    held_.erase(ino);
  }
  kv::Mutation mutation;
  mutation.growth = kv::Growth::kMustGo;
  mutation.writes = {kv::erase(kv::keys::hold(context_.fs, ino, context_.mount))};
  const auto done = context_.session.commit_blocking(std::move(mutation));
  if (done) return {};
  const MutexLock lock(mutex_);
  held_.insert(ino);
  return tl::unexpected<Error>(done.error());
}

// Whether every other mount has looked at the orphan and none holds it.
bool OrphanWatch::nobody_needs(const OpenOrphans::Orphan& orphan) const {
  const bool ours = orphan.mount == context_.mount || peers_.has_ended(orphan.mount);
  if (!ours || context_.open_files.is_open(orphan.ino)) return false;
  // Looked first: a mount puts its hold before it announces that it has looked.
  return peers_.looked() >= orphan.revision && peers_.held_by_others(orphan.ino) == false;
}

bool OrphanWatch::round() {
  const auto seen = orphans_.image();
  if (!seen) return true;
  bool all = true;
  const auto note = [&](Ino ino, const Status& done) {
    if (done) return;
    all = false;
    log::warn("orphan inode {} of filesystem {}: {}", ino.value(), context_.fs.value(),
              done.error().message);
  };
  for (const OpenOrphans::Orphan& orphan : seen->orphans) {
    const bool new_here = orphan.revision > claimed_ && orphan.revision > looked();
    if (!new_here || orphan.mount == context_.mount) continue;
    if (context_.open_files.is_open(orphan.ino)) note(orphan.ino, hold(orphan.ino));
    if (loop_.stopping()) return true;
  }
  if (!all) return false;  // the hold of some orphan was not put
  looked_.store(std::max(seen->newest, looked()).value(), std::memory_order_release);

  std::vector<Ino> held;
  {
    const MutexLock lock(mutex_);
    held.assign(held_.begin(), held_.end());
  }
  for (const Ino ino : held)
    if (!context_.open_files.is_open(ino)) note(ino, let_go(ino));
  for (const OpenOrphans::Orphan& orphan : seen->orphans) {
    if (loop_.stopping()) return true;
    if (nobody_needs(orphan)) note(orphan.ino, end_orphan(context_, orphan.ino));
  }
  return all;
}

bool OrphanWatch::may_use(Ino ino, Revision seen) {
  for (;;) {
    if (context_.open_files.keeps(ino)) return true;
    const auto image = orphans_.image();
    {
      const MutexLock lock(mutex_);
      if (held_.contains(ino)) return true;
      if (loop_.stopping()) return false;
      if (image && image->newest >= seen) {
        const auto found =
            std::find_if(image->orphans.begin(), image->orphans.end(),
                         [ino](const OpenOrphans::Orphan& orphan) { return orphan.ino == ino; });
        if (found == image->orphans.end()) return false;  // removed
        if (found->mount == context_.mount) return false;
        // Clients may reclaim what an ended mount had open, while no other mount can have removed
        // it.
        if (found->revision <= claimed_) return context_.membership.is_sole();
        if (looked() >= found->revision) return false;
      }
    }
    loop_.wake();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace symnas::fs

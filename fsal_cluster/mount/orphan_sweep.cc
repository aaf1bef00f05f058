#include "fsal_cluster/mount/orphan_sweep.h"

#include <chrono>
#include <string>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/ops/orphan.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/schema/mount_entry.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

// Whether a mount may still hold the orphan open: this one (its last close removes it), or one that
// has not ended.
Result<bool> held_open(Context& context, MountId holder) {
  if (holder == context.mount) return true;
  SYMNAS_ASSIGN(const kv::OpResult read,
                context.session.range(kv::prefix_range(kv::keys::mount(context.fs, holder)), 0));
  SYMNAS_ASSIGN(const std::vector<MountEntry> mounts, parse_mounts(context.fs, read));
  return first_alive(mounts) != nullptr;
}

}  // namespace

Result<std::vector<Ino>> list_orphans(kv::Session& session, FsId fs) {
  const std::string prefix = kv::keys::orphans(fs);
  kv::KeyRange rest = kv::prefix_range(prefix);
  std::vector<Ino> out;
  for (;;) {
    SYMNAS_ASSIGN(const kv::OpResult page, session.range(rest, kSweepPageKeys));
    for (const kv::KeyValue& kv : page.kvs)
      if (kv.key.size() == prefix.size() + 8) out.push_back(Ino{read_be64(kv.key, prefix.size())});
    if (!page.more || page.kvs.empty()) return out;
    rest.key = page.kvs.back().key + std::string(1, '\0');
  }
}

Status sweep_orphan(Context& context, Ino ino) {
  SYMNAS_ASSIGN(const kv::OpResult read,
                context.session.range(kv::single_key(kv::keys::orphan(context.fs, ino)), 1));
  if (read.kvs.empty()) return {};
  SYMNAS_ASSIGN(const records::Orphan orphan,
                parse_record<records::Orphan>(read.kvs.front().value,
                                              "orphan " + std::to_string(ino.value())));
  if (!orphan.open()) return context.data.sweep_orphan(ino, orphan);
  if (!context.membership.is_sole()) return {};  // other mounts may have it open: OrphanWatch
  SYMNAS_ASSIGN(const bool held, held_open(context, MountId{orphan.mount()}));
  return held ? Status() : end_orphan(context, ino);
}

OrphanSweep::OrphanSweep(Context& context, std::vector<Ino> orphans) : context_(context) {
  for (const Ino ino : orphans) jobs_.push_back({ino, Job::Why::kLeftBehind});
  loop_.start(0, [this] { return turn(); });
}

void OrphanSweep::last_closed(Ino ino) {
  {
    const MutexLock lock(mutex_);
    jobs_.push_back({ino, Job::Why::kLastClose});
  }
  loop_.wake();
}

std::vector<OrphanSweep::Job> OrphanSweep::work(const std::vector<Job>& jobs) {
  std::vector<Job> failed;
  for (const Job& job : jobs) {
    if (loop_.stopping()) return failed;
    const Status swept = job.why == Job::Why::kLastClose ? end_orphan(context_, job.ino)
                                                         : sweep_orphan(context_, job.ino);
    if (swept) continue;
    log::warn("orphan inode {} of filesystem {}: not swept yet: {}", job.ino.value(),
              context_.fs.value(), swept.error().message);
    failed.push_back(job);
  }
  return failed;
}

std::int64_t OrphanSweep::turn() {
  std::vector<Job> jobs;
  {
    const MutexLock lock(mutex_);
    jobs.swap(jobs_);
  }
  const std::vector<Job> failed = work(jobs);
  if (failed.empty()) return Loop::kWhenWoken;
  {
    const MutexLock lock(mutex_);
    jobs_.insert(jobs_.end(), failed.begin(), failed.end());
  }
  loop_.stopped_within(kSweepRetryMs * 1'000'000);  // whatever is closed meanwhile
  return 0;
}

}  // namespace symnas::fs

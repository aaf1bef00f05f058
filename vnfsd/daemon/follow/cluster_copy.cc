#include "vnfsd/daemon/follow/cluster_copy.h"

#include <algorithm>
#include <utility>

namespace symnas::vnfsd::daemon {

void ClusterCopy::watch_began() {
  const MutexLock lock(mutex_);
  watch_ += watch_ % 2 == 0 ? 1 : 2;
  filled_ = false;
  records_.clear();
  early_.clear();
}

void ClusterCopy::watch_ended() {
  const MutexLock lock(mutex_);
  watch_ += watch_ % 2;
  filled_ = false;
  records_.clear();
  early_.clear();
}

void ClusterCopy::apply(std::vector<kv::WatchEvent> events) {
  const MutexLock lock(mutex_);
  if (watch_ % 2 == 0) return;
  for (kv::WatchEvent& event : events) {
    if (filled_) {
      apply_one(std::move(event));
    } else {
      early_.push_back(std::move(event));
    }
  }
}

void ClusterCopy::apply_one(kv::WatchEvent event) {
  if (event.kv.mod_revision <= read_at_) return;
  revision_ = std::max(revision_, event.kv.mod_revision);
  if (event.deleted) {
    records_.erase(event.kv.key);
  } else {
    records_[event.kv.key] = std::move(event.kv);
  }
}

bool ClusterCopy::fill(const ClusterRecords& read, std::uint64_t watch) {
  const MutexLock lock(mutex_);
  // A watch that began while this was read may have missed what happened in between.
  if (watch != watch_ || watch_ % 2 == 0) return false;
  if (filled_ && read.revision <= revision_) return false;
  std::map<std::string, kv::KeyValue> now;
  for (const kv::KeyValue& kv : read.kvs) now[kv.key] = kv;
  const bool news = filled_ && !std::ranges::equal(records_, now, [](const auto& a, const auto& b) {
                      return a.first == b.first && a.second.mod_revision == b.second.mod_revision;
                    });
  records_ = std::move(now);
  filled_ = true;
  read_at_ = revision_ = read.revision;
  for (kv::WatchEvent& event : std::exchange(early_, {})) apply_one(std::move(event));
  return news;
}

void ClusterCopy::must_show(Revision revision) {
  const MutexLock lock(mutex_);
  must_show_ = std::max(must_show_, revision);
}

std::uint64_t ClusterCopy::watch() const {
  const MutexLock lock(mutex_);
  return watch_;
}

std::optional<Result<ClusterView>> ClusterCopy::view() const {
  std::vector<kv::KeyValue> kvs;
  Revision revision;
  {
    const MutexLock lock(mutex_);
    if (!filled_ || revision_ < must_show_) return std::nullopt;
    kvs.reserve(records_.size());
    for (const auto& [key, kv] : records_) kvs.push_back(kv);
    revision = revision_;
  }
  return view_of(kvs, revision);
}

}  // namespace symnas::vnfsd::daemon

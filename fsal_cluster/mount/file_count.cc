#include "fsal_cluster/mount/file_count.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/waiting.h"
#include "common/kv/keys.h"
#include "fsal_cluster/ops/limits.h"

namespace symnas::fs {

Result<FileUse> FileCount::use() {
  const Waiting waiting;
  const MutexLock lock(mutex_);
  if (stop_) return fail(ErrorCode::kShutdown, "the mount is being closed");
  if (!count_ || clock_.mono_ns() >= count_->until_ns) {
    asked_ = true;
    failed_.reset();
    if (!std::exchange(started_, true)) {
      loop_.start(Loop::kWhenWoken, [this] {
        count();
        return Loop::kWhenWoken;
      });
    }
    loop_.wake();
    const auto answered = [this]() REQUIRES(mutex_) { return stop_ || !asked_; };
    if (count_) {
      answered_.wait_for(mutex_, std::chrono::milliseconds(kFileCountWaitMs), answered);
    } else {
      answered_.wait(mutex_, answered);
    }
  }
  if (!count_ && failed_) return tl::unexpected<Error>(*failed_);
  if (!count_) return fail(ErrorCode::kShutdown, "the mount is being closed");
  return FileUse{count_->files, room_for_files(quota_)};
}

void FileCount::stop() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  answered_.notify_all();
  loop_.stop();
}

void FileCount::count() {
  {
    const MutexLock lock(mutex_);
    if (!asked_) return;  // the last count has answered
  }
  const std::int64_t began_ns = clock_.mono_ns();
  const auto inodes = session_.range(kv::prefix_range(kv::keys::table(fs_, 'w', 'I')), 1);
  const std::int64_t took_ns = clock_.mono_ns() - began_ns;
  {
    const MutexLock lock(mutex_);
    asked_ = false;
    if (inodes) {
      const std::int64_t good_ns = std::min(took_ns * kFileCountShare, kFileCountGoodNsMax);
      count_ = Count{static_cast<std::uint64_t>(inodes->count), clock_.mono_ns() + good_ns};
    } else {
      failed_ = inodes.error();
    }
  }
  answered_.notify_all();
}

}  // namespace symnas::fs

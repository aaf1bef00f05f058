#include "fsal_cluster/mount/lun_touch.h"

#include <utility>

#include "fsal_cluster/types/limits.h"

namespace symnas::fs {

LunTouch::LunTouch(std::shared_ptr<cvm::VolumeIo> volume, Gate& gate,
                   std::function<void(Error)> on_fenced)
    : volume_(std::move(volume)),
      gate_(gate),
      on_fenced_(std::move(on_fenced)),
      buffer_(volume_->buffer(kTouchBytes)) {}

LunTouch::~LunTouch() {
  const MutexLock lock(mutex_);
  idle_.wait(mutex_, [this]() REQUIRES(mutex_) { return !reads_; });
}

void LunTouch::begin() {
  {
    const MutexLock lock(mutex_);
    if (reads_) return;
    reads_ = true;
  }
  const std::int64_t begun_ns = gate_.now_ns();
  volume_->read(VolumeOffset{0}, std::span(buffer_.data(), kTouchBytes),
                [this, begun_ns](const Status& read) { ended(begun_ns, read); });
}

void LunTouch::ended(std::int64_t begun_ns, const Status& read) {
  if (read) gate_.confirm(begun_ns, Gate::Seen::kByUs);
  if (!read && read.error().code == ErrorCode::kFenced && on_fenced_) on_fenced_(read.error());
  const MutexLock lock(mutex_);
  reads_ = false;
  idle_.notify_all();
}

}  // namespace symnas::fs

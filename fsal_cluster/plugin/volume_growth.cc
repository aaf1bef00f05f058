#include "fsal_cluster/plugin/volume_growth.h"

#include <chrono>
#include <utility>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "common/kv/limits.h"
#include "fsal_cluster/plugin/instance_file.h"
#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {

VolumeGrowth::VolumeGrowth(kv::Store& store, std::string volume_name, std::string instance_file,
                           cvm::OpenVolume& volume)
    : store_(store),
      volume_name_(std::move(volume_name)),
      instance_file_(std::move(instance_file)),
      volume_(volume) {
  loop_.start(0, [this] { return look(); });
}

VolumeGrowth::~VolumeGrowth() {
  loop_.stop();
  watch_.reset();
}

void VolumeGrowth::wake(bool reopen) {
  {
    const MutexLock lock(mutex_);
    look_ = true;
    reopen_ = reopen_ || reopen;
  }
  loop_.wake();
}

void VolumeGrowth::on_watch_created(Revision) { wake(false); }
void VolumeGrowth::on_watch_events(std::vector<kv::WatchEvent>, Revision) { wake(false); }
void VolumeGrowth::on_watch_ended(Error) { wake(true); }

std::int64_t VolumeGrowth::look() {
  MutexLock lock(mutex_);
  if (std::exchange(reopen_, false)) {
    lock.unlock();
    watch_.reset();
    watch_ = store_.watch(kv::single_key(kv::keys::kVolumes + volume_name_), Revision{}, this);
    lock.lock();
  }
  bool failed = false;
  if (std::exchange(look_, false)) {
    lock.unlock();
    failed = !adopt();
    lock.lock();
  }
  look_ = look_ || failed;
  if (!failed && !reopen_) return Loop::kWhenWoken;
  lock.unlock();
  loop_.stopped_within(kGrowthRetryMs * 1'000'000);  // whatever the watch says meanwhile
  return 0;
}

bool VolumeGrowth::adopt() {
  const auto found = kv::range_blocking(store_, kv::single_key(kv::keys::kVolumes + volume_name_),
                                        1, kv::kBlockingDeadlineMs);
  if (!found) return false;
  cvm::records::VolumeRecord record;
  if (found->kvs.empty() || !record.ParseFromString(found->kvs.front().value)) return true;
  if (record.version() <= volume_.version()) return true;
  const auto file = read_instance_file(instance_file_);
  if (!file) {
    log::error("volume {} cannot grow here: {}", volume_name_, file.error().message);
    return false;
  }
  std::vector<cvm::LunPath> paths;
  for (const InstanceFile::Lun& lun : file->luns)
    if (const auto uuid = Uuid::parse(lun.uuid)) paths.push_back({lun.name, *uuid, lun.path});
  const auto grown = volume_.grow(record, paths);
  if (!grown) {
    log::error("volume {} cannot grow here yet: {}", volume_name_, grown.error().message);
    return false;
  }
  log::info("volume {} has grown to {} bytes", volume_name_, volume_.size_bytes());
  return true;
}

}  // namespace symnas::plugin

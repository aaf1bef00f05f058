#include "vnfsd/http/places.h"

namespace symnas::vnfsd {

std::shared_ptr<void> Places::take(const std::string& key) {
  const MutexLock lock(mutex_);
  std::size_t& count = held_[key];
  if (count >= each_max_) {
    if (count == 0) held_.erase(key);
    return nullptr;
  }
  ++count;
  return {this, [this, key](void*) {
            const MutexLock again(mutex_);
            if (--held_[key] == 0) held_.erase(key);
          }};
}

}  // namespace symnas::vnfsd

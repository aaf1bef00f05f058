#include "common/kv/following.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace symnas::kv {

void Following::add_reads(std::vector<Op>& reads) const {
  for (const KeyRange& range : ranges_) reads.push_back(get_range(range));
}

void Following::image(std::deque<OpResult>& results, Revision at, Revision no_older_than) {
  std::vector<KeyValue> keys;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    std::vector<KeyValue>& kvs = results.front().kvs;
    keys.insert(keys.end(), std::make_move_iterator(kvs.begin()),
                std::make_move_iterator(kvs.end()));
    results.pop_front();
  }
  const MutexLock lock(mutex_);
  image_ = std::move(keys);
  at_ = at;
  no_older_than_ = no_older_than;
  complete_locked();
}

// One step: between an older image and its events somebody could look.
void Following::complete_locked() {
  const Revision newest = std::max(at_, early_newest_);
  if (!image_ || newest < no_older_than_) return;
  std::map<std::string, KeyValue> keys;
  for (KeyValue& kv : *image_) keys[kv.key] = std::move(kv);
  image_.reset();
  for (WatchEvent& event : early_) {
    if (event.kv.mod_revision <= at_) continue;  // the image is younger
    if (event.deleted) {
      keys.erase(event.kv.key);
    } else {
      keys[event.kv.key] = std::move(event.kv);
    }
  }
  early_.clear();
  std::vector<KeyValue> image;
  image.reserve(keys.size());
  for (auto& [key, kv] : keys) image.push_back(std::move(kv));
  complete_ = true;
  at_ = newest;
  follower_->on_image(image, at_);
}

void Following::events(const std::vector<WatchEvent>& events, Revision newest) {
  std::vector<WatchEvent> followed;
  for (const WatchEvent& event : events) {
    const bool wanted = std::any_of(ranges_.begin(), ranges_.end(), [&](const KeyRange& range) {
      return contains(range, event.kv.key);
    });
    if (wanted) followed.push_back(event);
  }
  const MutexLock lock(mutex_);
  if (complete_) {
    if (newest <= at_) return;  // the image is younger
    std::erase_if(followed,
                  [at = at_](const WatchEvent& one) { return one.kv.mod_revision <= at; });
    follower_->on_events(followed, newest);
    return;
  }
  early_.insert(early_.end(), std::make_move_iterator(followed.begin()),
                std::make_move_iterator(followed.end()));
  early_newest_ = std::max(early_newest_, newest);
  complete_locked();
}

void Following::lost() {
  const MutexLock lock(mutex_);
  image_.reset();
  early_.clear();
  early_newest_ = Revision(0);
  if (std::exchange(complete_, false)) follower_->on_lost();
}

}  // namespace symnas::kv

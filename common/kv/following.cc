#include "common/kv/following.h"

#include <algorithm>
#include <utility>

namespace symnas::kv {

void Following::add_reads(std::vector<Op>& reads) const {
  for (const KeyRange& range : ranges_) reads.push_back(get_range(range));
}

void Following::image(std::deque<OpResult>& results, Revision at) {
  std::vector<KeyValue> keys;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    std::vector<KeyValue>& kvs = results.front().kvs;
    keys.insert(keys.end(), std::make_move_iterator(kvs.begin()),
                std::make_move_iterator(kvs.end()));
    results.pop_front();
  }
  const std::scoped_lock lock(mutex_);
  complete_ = true;
  at_ = at;
  follower_->on_image(keys, at);
  pass_on(std::exchange(early_, {}), early_newest_);
}

void Following::events(const std::vector<WatchEvent>& events, Revision newest) {
  std::vector<WatchEvent> followed;
  for (const WatchEvent& event : events) {
    const bool wanted = std::any_of(ranges_.begin(), ranges_.end(), [&](const KeyRange& range) {
      return contains(range, event.kv.key);
    });
    if (wanted) followed.push_back(event);
  }
  const std::scoped_lock lock(mutex_);
  if (complete_) {
    pass_on(followed, newest);
    return;
  }
  early_.insert(early_.end(), std::make_move_iterator(followed.begin()),
                std::make_move_iterator(followed.end()));
  early_newest_ = newest;
}

void Following::pass_on(const std::vector<WatchEvent>& events, Revision newest) {
  if (newest <= at_) return;  // the image contains these events already
  std::vector<WatchEvent> later;
  for (const WatchEvent& event : events) {
    if (event.kv.mod_revision > at_) later.push_back(event);
  }
  follower_->on_events(later, newest);
}

void Following::lost() {
  const std::scoped_lock lock(mutex_);
  early_.clear();
  early_newest_ = Revision(0);
  if (std::exchange(complete_, false)) follower_->on_lost();
}

}  // namespace symnas::kv

// Following: stands between the session's watch and its Follower. It reads the image together with
// the watch's anchor, keeps the events that come before the image, and drops those that the image
// contains already.
//
// Thread class: thread-safe; its mutex is held while the follower is called.
#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/kv/follower.h"
#include "common/kv/session.h"

namespace symnas::kv {

class Following {
 public:
  explicit Following(SessionOptions::Followed followed)
      : ranges_(std::move(followed.ranges)), follower_(followed.follower) {}

  // Appends what to read in one transaction with the anchor. That transaction's results go to
  // image(), one per operation.
  void add_reads(std::vector<Op>& reads) const;
  // Takes the results of its own reads off the front of `results`, and tells the follower when
  // image and events have come as far as `no_older_than`. REQUIRES: the transaction was sent after
  // the watch had begun.
  void image(std::deque<OpResult>& results, Revision at, Revision no_older_than);
  void events(const std::vector<WatchEvent>& events, Revision newest);
  // The watch has a gap.
  void lost();

 private:
  void complete_locked() REQUIRES(mutex_);

  const std::vector<KeyRange> ranges_;
  Follower* const follower_;
  Mutex mutex_;
  bool complete_ GUARDED_BY(mutex_) = false;  // the follower has an image
  // The image of which the follower has not been told yet.
  std::optional<std::vector<KeyValue>> image_ GUARDED_BY(mutex_);
  Revision at_ GUARDED_BY(mutex_);  // of the image
  Revision no_older_than_ GUARDED_BY(mutex_);
  // Events of followed keys that came before the follower was told of the image.
  std::vector<WatchEvent> early_ GUARDED_BY(mutex_);
  Revision early_newest_ GUARDED_BY(mutex_);
};

}  // namespace symnas::kv

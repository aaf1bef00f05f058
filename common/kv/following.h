// Following: stands between the session's watch and its Follower. It reads the image together with
// the watch's anchor, keeps the events that come before the image, and drops those that the image
// contains already.
//
// Thread class: thread-safe; its mutex is held while the follower is called.
#pragma once

#include <deque>
#include <mutex>
#include <utility>
#include <vector>

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
  // Takes its own results off the front. REQUIRES: the transaction was sent after the watch had
  // begun.
  void image(std::deque<OpResult>& results, Revision at);
  void events(const std::vector<WatchEvent>& events, Revision newest);
  // The watch has a gap.
  void lost();

 private:
  void pass_on(const std::vector<WatchEvent>& events, Revision newest);

  const std::vector<KeyRange> ranges_;
  Follower* const follower_;
  std::mutex mutex_;
  bool complete_ = false;          // the image has come
  Revision at_;                    // of the image
  std::vector<WatchEvent> early_;  // followed events that came before the image
  Revision early_newest_;
};

}  // namespace symnas::kv

// Follower: receives everything about some of the watched keys: a complete image, then every change
// in order of revision. The image with the changes up to a revision is what the store held at that
// revision.
//
// Called on threads of the store, never two calls at once, with locks of the session held: it must
// not block and must not call the session.
#pragma once

#include <vector>

#include "common/kv/store.h"

namespace symnas::kv {

class Follower {
 public:
  virtual ~Follower() = default;
  // Takes all keys as of `at`. They replace everything that came before.
  virtual void on_image(const std::vector<KeyValue>& image, Revision at) = 0;
  // Takes changes of followed keys (maybe none); there are no others up to `newest`. Called after
  // the session's cache shows them, and before applied() and barriers reach `newest`.
  virtual void on_events(const std::vector<WatchEvent>& events, Revision newest) = 0;
  // Changes may be missing from now on; an image will follow.
  virtual void on_lost() = 0;
};

}  // namespace symnas::kv

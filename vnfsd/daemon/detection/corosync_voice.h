// CorosyncVoice: what corosync's membership adds to what this head hears of the others
// (docs/decisions/0015). Without a source it adds nothing. Thread-safe.
#pragma once

#include <optional>
#include <string>

#include "common/base/thread_annotations.h"
#include "ha/detection/corosync/watch.h"
#include "ha/detection/peer_watch.h"
#include "vnfsd/daemon/detection/neighbours.h"
#include "vnfsd/daemon/head/this_head.h"

namespace symnas::vnfsd::daemon {

class CorosyncVoice {
 public:
  // `source`: null when corosync is not asked.
  CorosyncVoice(const ThisHead& head, const ha::CorosyncSights* source);

  void follow(const Neighbours& neighbours);
  // Whether corosync's majority has lost the head since it was heard last.
  bool has_lost(const ha::PeerSight& sight) const;
  // For the end of a message about a silent head: " (corosync ...)"; "" if it is not asked.
  std::string says_of(const std::string& head) const;
  // What it says of all heads; nullopt: it is not asked.
  std::optional<ha::CorosyncSight> sight() const;

 private:
  const ThisHead& head_;
  const ha::CorosyncSights* const source_;
  mutable Mutex mutex_;  // leaf
  ha::CorosyncWitness::Heads heads_ GUARDED_BY(mutex_);
};

}  // namespace symnas::vnfsd::daemon

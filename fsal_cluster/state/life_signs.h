// LifeSigns: what etcd shows of mounts that are to be ended after a fence that left their processes
// alive, and when none of them may answer from memory any more (decision 0024).
//
// A mount answers from memory for a while (MountRecord::answers_ms) after it sent a heartbeat, and
// only after one that is recorded. So whoever ends it looks twice: when the fence begins, and when
// no heartbeat can succeed any more. What has not moved in between was sent before the first look.
// Thread-safe: functions without state; look_at_life_signs() blocks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/store.h"

namespace symnas::fs {

struct LifeSigns {
  // Of every living mount: the revision of its last heartbeat; 0: it has put none yet.
  std::map<std::pair<FsId, MountId>, Revision> heartbeats;
  // The longest time that one of them answers after a heartbeat; nullopt: one does not say it (it
  // is of an earlier version), so that it may be as long as gates are open.
  std::optional<std::int64_t> answers_ms = 0;
  std::int64_t seen_ns = 0;  // after the look, by the clock of whoever looked
};

// The mounts of these VNFSs, up to the epoch of each. Errors: those of the store, kCorrupt.
Result<LifeSigns> look_at_life_signs(kv::Store& store, const env::Clock& clock,
                                     const std::vector<std::pair<VnfsId, Epoch>>& vnfses);

// From when on no mount of `after` answers from memory, by the clock of seen_ns; nullopt: one does
// not say how long it does. `before`: null when nobody has looked before the fence. REQUIRES:
// `after` was looked at when no heartbeat of these mounts could succeed any more.
std::optional<std::int64_t> silent_from_ns(const LifeSigns* before, const LifeSigns& after);

}  // namespace symnas::fs

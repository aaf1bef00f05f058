#include "vnfsd/daemon/fencing/stalls.h"

#include <algorithm>

#include "vnfsd/daemon/fencing/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// Carries over since when each key has the revision that it has now.
template <class Key, class Seen>
void note(std::map<Key, Seen>& before, std::map<Key, Seen>& after, const Key& key,
          Revision revision, std::int64_t now_ms) {
  const auto known = before.find(key);
  const bool same = known != before.end() && known->second.revision == revision;
  after[key] = {revision, same ? known->second.since_ms : now_ms};
}

}  // namespace

std::vector<Stall> StallWatch::look(std::int64_t now_ms, const std::string& filesystem,
                                    const fs::Waits& waits) {
  Filesystem& known = filesystems_[filesystem];
  if (now_ms - known.looked_ms > kLookGapMs) known = {};
  known.looked_ms = now_ms;
  std::map<MountId, Seen> heartbeats;
  std::map<std::string, Seen> wants;
  for (const auto& mount : waits.mounts)
    note(known.heartbeats, heartbeats, mount.entry.id, mount.heartbeat, now_ms);
  for (const auto& want : waits.wants) note(known.wants, wants, want.key, want.revision, now_ms);
  known.heartbeats = std::move(heartbeats);
  known.wants = std::move(wants);

  const bool beats =
      std::any_of(known.heartbeats.begin(), known.heartbeats.end(),
                  [&](const auto& entry) { return entry.second.since_ms == now_ms; });
  const bool etcd_was_away = now_ms - known.beat_ms > kLookGapMs;
  if (beats) known.beat_ms = now_ms;
  if (etcd_was_away) {
    for (auto& [mount, seen] : known.heartbeats) seen.since_ms = now_ms;
  }
  std::vector<Stall> stalls;
  for (const auto& mount : waits.mounts) {
    Stall stall{filesystem, mount.entry, mount.heartbeat, 0, 0, 0};
    std::int64_t silent_ms = now_ms - known.heartbeats[mount.entry.id].since_ms;
    if (mount.heartbeat == Revision{}) silent_ms -= kFirstHeartbeatMs;  // it recovers first
    if (silent_ms >= kSilentMs) stall.silent_ms = silent_ms;
    for (const auto& want : waits.wants) {
      // Nobody else holds a token: whoever put the want keeps others from getting one.
      const bool answers = want.holders.empty()
                               ? want.by == mount.entry.id
                               : std::find(want.holders.begin(), want.holders.end(),
                                           mount.entry.id) != want.holders.end();
      const std::int64_t waited_ms = now_ms - known.wants[want.key].since_ms;
      if (!answers || waited_ms < kUnansweredMs) continue;
      stall.waited_ms = std::max(stall.waited_ms, waited_ms);
      ++stall.wants;
    }
    if (stall.silent_ms > 0 || stall.waited_ms > 0) stalls.push_back(std::move(stall));
  }
  return stalls;
}

void StallWatch::keep_only(const std::vector<std::string>& filesystems) {
  std::erase_if(filesystems_, [&](const auto& known) {
    return std::find(filesystems.begin(), filesystems.end(), known.first) == filesystems.end();
  });
}

}  // namespace symnas::vnfsd::daemon

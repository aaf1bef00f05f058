// StallWatch: measures which mounts keep others waiting, and for how long. Fed once a second with
// what etcd says of a filesystem; decides nothing. Thread class: thread-compatible.
//
// Invariant: every time that is returned was watched without a gap. A head that was paused itself,
// or had no etcd, blames nobody for that time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fsal_cluster/state/waits.h"

namespace symnas::vnfsd::daemon {

// A mount that has not put its heartbeat, or not answered a want.
struct Stall {
  std::string filesystem;
  fs::MountEntry mount;
  Revision heartbeat;          // its last one; 0: none yet
  std::int64_t silent_ms = 0;  // since its last heartbeat was seen
  std::int64_t waited_ms = 0;  // the oldest want that waits for it; 0: none
  std::size_t wants = 0;       // wants that wait for it, of those looked at
};

class StallWatch {
 public:
  // The mounts that are silent for kSilentMs or keep a want waiting for kUnansweredMs, by mount. As
  // long as no mount shows heartbeats no mount is blamed for its silence, nor for that time
  // afterwards: etcd was at fault.
  std::vector<Stall> look(std::int64_t now_ms, const std::string& filesystem,
                          const fs::Waits& waits);
  // Forgets all filesystems but these: the others are not looked at any more.
  void keep_only(const std::vector<std::string>& filesystems);

 private:
  struct Seen {
    Revision revision;
    std::int64_t since_ms = 0;  // first seen
  };
  struct Filesystem {
    std::int64_t looked_ms = 0;
    std::int64_t beat_ms = 0;  // when any heartbeat was new
    std::map<MountId, Seen> heartbeats;
    std::map<std::string, Seen> wants;
  };

  std::map<std::string, Filesystem> filesystems_;
};

}  // namespace symnas::vnfsd::daemon

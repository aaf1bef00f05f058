// FenceWatch: fences that nobody goes on with. Their fencer has ended, or etcd did not tell it what
// became of a step; until somebody ends them that boot of the head may claim nothing. Fed once a
// second with the records; decides, does nothing. Thread class: thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

struct AbandonedFence {
  enum class Next {
    kTakeOver,  // goes on with it
    kGiveUp,    // nothing is proven, and the head is heard again: the fence has failed
  };
  std::string head;
  Revision revision;  // of its fence record
  Next next = Next::kTakeOver;
  friend bool operator==(const AbandonedFence&, const AbandonedFence&) = default;
};

class FenceWatch {
 public:
  // `self`: this head. Its own fences count as abandoned at once if none is `under_way` here; those
  // of others when they have stood still for longer than a ladder may take, with the longer of
  // `timeout_s` and the fencer's own. `heard`: heads whose registered boot was heard just now. What
  // an administrator has asked for is not given up.
  enum class UnderWay { kNone, kOne };
  std::vector<AbandonedFence> look(std::int64_t now_ms, const ClusterView& view,
                                   const std::string& self, UnderWay under_way,
                                   std::int64_t timeout_s, const std::set<std::string>& heard);

 private:
  std::map<std::string, std::pair<Revision, std::int64_t>> seen_;  // by head: since when it stands
};

}  // namespace symnas::vnfsd::daemon

// FenceWatch: finds fences that nobody goes on with: the fencer has ended, or etcd did not tell it
// the outcome of a step. Until somebody ends such a fence, the fenced boot may claim nothing. Fed
// once a second with the records; only decides. Thread class: thread-compatible.
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
    kTakeOver,  // this head goes on with the fence
    kGiveUp,    // nothing is proven, and the head is heard again: the fence has failed
  };
  std::string head;
  Revision revision;  // of the fence record
  Next next = Next::kTakeOver;
  friend bool operator==(const AbandonedFence&, const AbandonedFence&) = default;
};

class FenceWatch {
 public:
  // `self`: this head. Fences of this head count as abandoned at once if none is `under_way` here;
  // those of others when they have stood still for longer than a fence may take (fence_span_ms(),
  // with the longer of `timeout_s` and the fencer's own). `heard`: heads whose registered boot was
  // heard just now. A fence that an administrator has asked for is not given up.
  enum class UnderWay { kNone, kOne };
  std::vector<AbandonedFence> look(std::int64_t now_ms, const ClusterView& view,
                                   const std::string& self, UnderWay under_way,
                                   std::int64_t timeout_s, const std::set<std::string>& heard);

 private:
  // By head: the fence record, and since when it stands still.
  std::map<std::string, std::pair<Revision, std::int64_t>> seen_;
};

}  // namespace symnas::vnfsd::daemon

// KeytabKeeper: seals keytabs anew when heads have come, gone or got other keys. Any head that can
// open one does it; the first one's record stays. Confined to the reconciler's thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "vnfsd/daemon/head/this_head.h"
#include "vnfsd/daemon/journal/event_writer.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

// An event's kind: a keytab is sealed for a key that is new.
inline constexpr std::string_view kKeytabSealed = "keytab-sealed";

class KeytabKeeper {
 public:
  KeytabKeeper(const ThisHead& head, EventWriter& events) : head_(head), events_(events) {}
  // What fails is logged and tried again the next time: the other keytabs do not wait for it.
  void follow(const ClusterView& view);

 private:
  Result<kv::Txn> sealed_anew(const ClusterView& view, const std::string& vnfs,
                              const Stored<records::KeytabRecord>& keytab);

  const ThisHead& head_;
  EventWriter& events_;
  std::map<std::string, std::string> said_;  // by VNFS: what was logged
};

}  // namespace symnas::vnfsd::daemon

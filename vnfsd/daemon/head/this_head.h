// ThisHead: which head, in which boot of it, the agent acts for, and what all its components work
// with. Thread-safe: nothing of it changes.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/store.h"
#include "vnfsd/config/config.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

struct ThisHead {
  kv::Store& store;
  const env::Clock& clock;
  const Config config;
  const std::string incarnation;  // the kernel's boot id

  // Whether this machine, in this boot, is the head of its name. Errors: kForeign.
  Status check_not_removed(const ClusterView& view) const;
  // Who is admitted, and whether the boot is one that was fenced, is as it was seen.
  void compare_admission(const ClusterView& view, kv::Txn& txn) const;
};

// What the head that it forbids to claim says: kPermission.
tl::unexpected<Error> fenced_here(const records::FenceRecord& fence);

}  // namespace symnas::vnfsd::daemon

// ThisHead: the head that the agent acts for, in one boot of it, with the store, clock and
// configuration of all components. Thread-safe: nothing of it changes.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/env/clock.h"
#include "common/kv/store.h"
#include "vnfsd/config/config.h"
#include "vnfsd/plans/admission.h"
#include "vnfsd/records/cluster_view.h"

namespace symnas::vnfsd::daemon {

struct ThisHead {
  kv::Store& store;
  const env::Clock& clock;
  const Config config;
  const std::string incarnation;  // the kernel's boot id

  HeadBoot boot() const;
  // Whether this machine, in this boot, is the head of its name. Errors: kForeign.
  Status check_not_removed(const ClusterView& view) const;
  // Adds the compares that the admitted machine, and whether this boot was fenced, are as in
  // `view`.
  void compare_admission(const ClusterView& view, kv::Txn& txn) const;
};

}  // namespace symnas::vnfsd::daemon

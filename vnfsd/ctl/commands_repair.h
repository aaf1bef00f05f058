// `fs check --repair`: plans, asks, carries out, and checks again. Confined to the thread of
// run_symnas.
#pragma once

#include <string>

#include "common/base/result.h"
#include "vnfsd/ctl/context.h"

namespace symnas::vnfsd::ctl {

struct RepairOptions {
  std::string name;
  bool repair = false;
  bool yes = false;
  bool dry_run = false;
};

// Plans that one call carries out: each order of steps takes one, and what changed meanwhile some
// more.
inline constexpr int kRepairRoundsMax = 12;

// REQUIRES: o.repair.
Status repair_filesystem(Context& context, const RepairOptions& o);
// What was repaired.
Status show_repairs(Context& context, const std::string& name);

}  // namespace symnas::vnfsd::ctl

// The options of an export, from an administrator's words. Thread-safe: pure functions.
#pragma once

#include <string>

#include "common/base/result.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {

// Errors: kInvalidArgument; the record may be half changed then.
Status set_export_options(const ExportEdit& edit, records::ExportRecord& record);

// Whether the edit names an option at all.
bool changes_anything(const ExportEdit& edit);

// Who may do what, in one line for whoever ordered it.
std::string rules_of(const records::ExportRecord& record);

}  // namespace symnas::vnfsd

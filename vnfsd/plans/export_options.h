// The options of an export, from an administrator's words. Thread-safe: a pure function.
#pragma once

#include "common/base/result.h"
#include "vnfsd/plans/plans.h"

namespace symnas::vnfsd {

// Errors: kInvalidArgument; the record may be half changed then.
Status set_export_options(const ExportEdit& edit, records::ExportRecord& record);

}  // namespace symnas::vnfsd

// Usage: what one filesystem contains, and how much of the store it takes. Blocks: reads all its
// keys once; memory does not grow with them.
#pragma once

#include "common/base/result.h"
#include "fsal_cluster/check/context.h"
#include "fsal_cluster/check/view.h"

namespace symnas::fs::check {

// Counts files, directories, others, keys, bytes and used blocks. Errors: as View::read.
Result<Summary> count_usage(View& view);

}  // namespace symnas::fs::check

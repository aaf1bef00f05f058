// Runs the product's own check on the records of a FileWorld, which has files but no names: names
// are added for it.
#pragma once

#include <vector>

#include "common/kv/store.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {

// Fails the test for each finding.
void expect_consistent(const std::vector<kv::KeyValue>& kvs, const WorldOptions& options);

}  // namespace symnas::fs::test

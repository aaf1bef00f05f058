// What the product's own checker (fsal_cluster/check) finds in the records: double owners, lost
// blocks, links, tokens, leftovers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/kv/mem/mem_store.h"
#include "fsal_cluster/check/checker.h"
#include "tests/sim/records_check.h"

namespace symnas::sim {

// Directories that are gone and may have left their times, for ever. A change that a removal was
// faster than deletes what its batch has put blind (docs/architecture/metadata.md), unless it dies
// before that or the store has no space.
struct Unswept {
  std::size_t died = 0;           // so many, whichever
  std::set<std::string> refused;  // their keys
};

// What a check of this dump knows beside the keys; `context` of the other calls.
fs::check::Context product_context(const std::vector<kv::KeyValue>& dump, FsId fs,
                                   std::uint64_t volume_blocks);
std::vector<fs::check::Finding> product_findings(const std::vector<kv::KeyValue>& dump,
                                                 const fs::check::Context& context);

// kAny: without what a living mount may be about to mend. Empty: fine; else the first finding.
std::string check_as_product(const kv::MemServer& server, FsId fs, std::uint64_t volume_blocks,
                             Moment moment, Unswept unswept = {});

}  // namespace symnas::sim

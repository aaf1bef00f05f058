// What the product's own checker (fsal_cluster/check) says of the records: double owners, lost
// blocks, links, tokens, leftovers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/kv/mem/mem_store.h"
#include "tests/sim/records_check.h"

namespace symnas::sim {

// kAny: without what a living mount may be about to mend. Empty: fine; else the first finding.
// `unswept`: so many directories that are gone may have left their times, for ever. A change that a
// removal was faster than deletes what its batch has put blind (docs/architecture/metadata.md);
// one that dies before that does not.
std::string check_as_product(const kv::MemServer& server, FsId fs, std::uint64_t volume_blocks,
                             Moment moment, std::size_t unswept = 0);

}  // namespace symnas::sim

// What the product's own checker (fsal_cluster/check) finds in the records: double owners, lost
// blocks, links, tokens, leftovers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/kv/mem/mem_store.h"
#include "tests/sim/records_check.h"

namespace symnas::sim {

// Returns "" or the first finding. kAny: without findings that a living mount may be about to
// repair. `unswept`: how many directories that are gone may have left their times, for ever: when a
// removal is faster than a change, the change deletes what its batch has put blind
// (docs/architecture/metadata.md); a mount that dies before that does not.
std::string check_as_product(const kv::MemServer& server, FsId fs, std::uint64_t volume_blocks,
                             Moment moment, std::size_t unswept = 0);

}  // namespace symnas::sim

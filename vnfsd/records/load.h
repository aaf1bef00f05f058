// Load: from what an instance has counted to what a head tells the others of it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fsal_cluster/load/load_report.h"
#include "vnfsd/records/load.pb.h"

namespace symnas::vnfsd {

// What was counted from `before` to `now`, two reports of one instance. What clients had done that
// have given way to others meanwhile is not counted a second time. Clients and operations without a
// request are left out.
records::LoadVnfs load_between(const fs::LoadReport& before, const fs::LoadReport& now);

// Makes the record at most `bytes_max` long, as far as that is possible: the least busy clients of
// all VNFSs are added to the clients without a row, by VNFS and export, whose sums stay true.
void bound_load(records::LoadRecord& record, std::size_t bytes_max);

}  // namespace symnas::vnfsd

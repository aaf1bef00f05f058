// How long the clients of a VNFS will wait in its next planned move, as its last ones tell. Pure.
#pragma once

#include <string>
#include <vector>

#include "vnfsd/records/records.pb.h"

namespace symnas::vnfsd {

// For people: "150 ms (median of 3 moves to c1n2; longest 210 ms)". Moves to `head` count if there
// are any, else all; without any the text says so. `tenures`: of one VNFS, by epoch.
std::string expected_pause(const std::vector<records::TenureRecord>& tenures,
                           const std::string& head);

}  // namespace symnas::vnfsd

// Details: what a command does beyond the line that --help shows; part of the manual pages.
// Constants.
#pragma once

#include <string_view>

namespace symnas::vnfsd::ctl {

// Of a command ("vnfs rehost"): sentences; "" = its line says all.
std::string_view details_of(std::string_view command);

}  // namespace symnas::vnfsd::ctl

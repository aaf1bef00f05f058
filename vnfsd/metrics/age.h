// The page with its age at its end: what every scrape is answered with. Thread-safe: pure.
#pragma once

#include <string>

namespace symnas::vnfsd::metrics {

std::string with_age(std::string page, double age_s);

}  // namespace symnas::vnfsd::metrics

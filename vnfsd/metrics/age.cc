#include "vnfsd/metrics/age.h"

#include <utility>

#include <fmt/core.h>

#include "vnfsd/metrics/catalog.h"

namespace symnas::vnfsd::metrics {

std::string with_age(std::string page, double age_s) {
  return std::move(page) + fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n{0} {2:.3f}\n",
                                       kPageAge.name, kPageAge.help, age_s);
}

}  // namespace symnas::vnfsd::metrics

// Page: samples of metrics, and the text that Prometheus reads (exposition format 0.0.4), written
// by prometheus-cpp. Thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/histogram.h"
#include "vnfsd/metrics/catalog.h"

namespace symnas::vnfsd::metrics {

// How many of something took how long.
struct TimeCounts {
  std::vector<double> bounds_s;
  std::vector<std::uint64_t> counts;  // one for each bound and one for longer ones
  double sum_s = 0;
};

class Page {
 public:
  Page();
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  // `values`: of the metric's labels, in their order, any bytes: what is not UTF-8 is replaced.
  // REQUIRES: as many as the metric has labels; a counter or gauge.
  void add(const Metric& metric, const std::vector<std::string>& values, double value);
  // REQUIRES: as above; a histogram.
  void add(const Metric& metric, const std::vector<std::string>& values, const Histogram& seen);
  void add(const Metric& metric, const std::vector<std::string>& values, const TimeCounts& seen);

  // HELP and TYPE of every metric of the catalog, also of those without samples here: a query of a
  // name that does not exist is told from one that finds nothing now.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace symnas::vnfsd::metrics

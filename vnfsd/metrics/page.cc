#include "vnfsd/metrics/page.h"

#include <cmath>
#include <limits>
#include <utility>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <nlohmann/json.hpp>

#include "common/base/check.h"

namespace symnas::vnfsd::metrics {
namespace {

prometheus::MetricType type_of(Type type) {
  switch (type) {
    case Type::kGauge: return prometheus::MetricType::Gauge;
    case Type::kCounter: return prometheus::MetricType::Counter;
    case Type::kHistogram: return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

// Prometheus refuses a whole page for one name that is not UTF-8.
std::string as_utf8(const std::string& text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

std::vector<std::string> names_of(std::string_view labels) {
  std::vector<std::string> names;
  while (!labels.empty()) {
    const std::size_t comma = labels.find(',');
    names.emplace_back(labels.substr(0, comma));
    labels = comma == std::string_view::npos ? "" : labels.substr(comma + 1);
  }
  return names;
}

prometheus::ClientMetric labelled(const Metric& metric, const std::vector<std::string>& values) {
  const std::vector<std::string> names = names_of(metric.labels);
  CHECK(names.size() == values.size(), "labels of a metric");
  prometheus::ClientMetric sample;
  for (std::size_t i = 0; i < names.size(); ++i)
    sample.label.push_back({names[i], as_utf8(values[i])});
  return sample;
}

}  // namespace

struct Page::State {
  std::vector<prometheus::MetricFamily> families;
  std::map<std::string_view, std::size_t> places;  // in families, by name
};

Page::Page() : state_(std::make_unique<State>()) {
  for (const Metric* metric : all_metrics()) {
    if (metric == &kPageAge) continue;  // age.h
    state_->places[metric->name] = state_->families.size();
    state_->families.push_back(
        {std::string(metric->name), std::string(metric->help), type_of(metric->type), {}});
  }
}

Page::~Page() = default;

void Page::add(const Metric& metric, const std::vector<std::string>& values, double value) {
  CHECK(metric.type != Type::kHistogram, "a histogram has no value");
  prometheus::ClientMetric sample = labelled(metric, values);
  (metric.type == Type::kCounter ? sample.counter.value : sample.gauge.value) = value;
  state_->families[state_->places.at(metric.name)].metric.push_back(std::move(sample));
}

void Page::add(const Metric& metric, const std::vector<std::string>& values,
               const Histogram& seen) {
  add(metric, values, TimeCounts{seen.bounds(), seen.counts(), seen.sum()});
}

void Page::add(const Metric& metric, const std::vector<std::string>& values,
               const TimeCounts& seen) {
  CHECK(metric.type == Type::kHistogram, "a value is no histogram");
  CHECK(seen.counts.size() == seen.bounds_s.size() + 1, "times of a histogram");
  prometheus::ClientMetric sample = labelled(metric, values);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < seen.counts.size(); ++i) {
    count += seen.counts[i];
    const bool last = i == seen.bounds_s.size();
    sample.histogram.bucket.push_back(
        {count, last ? std::numeric_limits<double>::infinity() : seen.bounds_s[i]});
  }
  sample.histogram.sample_count = count;
  sample.histogram.sample_sum = seen.sum_s;
  state_->families[state_->places.at(metric.name)].metric.push_back(std::move(sample));
}

std::string Page::text() const { return prometheus::TextSerializer().Serialize(state_->families); }

}  // namespace symnas::vnfsd::metrics

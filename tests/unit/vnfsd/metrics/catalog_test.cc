#include "vnfsd/metrics/catalog.h"

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace symnas::vnfsd::metrics {
namespace {

const char* word_of(Type type) {
  switch (type) {
    case Type::kCounter: return "counter";
    case Type::kHistogram: return "histogram";
    case Type::kGauge: return "gauge";
  }
  return "";
}

TEST(Catalog, NamesKeepTheConventions) {
  std::set<std::string_view> names;
  for (const Metric* metric : all_metrics()) {
    const std::string_view name = metric->name;
    EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
    EXPECT_TRUE(name.starts_with("symnas_") || name.starts_with("process_")) << name;
    EXPECT_EQ(name.ends_with("_total"), metric->type == Type::kCounter) << name;
    if (metric->type == Type::kHistogram) {
      EXPECT_TRUE(name.ends_with("_seconds")) << name;
    }
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), name.npos) << name;
    EXPECT_TRUE(metric->help.ends_with(".")) << name;
  }
}

// Rows "| `name` | type | labels | meaning |" of docs/operations/monitoring.md.
std::map<std::string, std::string> documented() {
  std::map<std::string, std::string> rows;
  std::ifstream page(SYMNAS_MONITORING_PAGE);
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `symnas_") && !line.starts_with("| `process_")) continue;
    std::istringstream cells(line);
    std::string bar, name, type, labels;
    std::getline(cells, bar, '|');
    std::getline(cells, name, '|');
    std::getline(cells, type, '|');
    std::getline(cells, labels, '|');
    const auto bare = [](std::string text) {
      std::erase_if(text, [](char c) { return c == ' ' || c == '`'; });
      return text;
    };
    rows[bare(name)] = bare(type) + " " + bare(labels);
  }
  return rows;
}

TEST(Catalog, IsTheTableOfTheDocument) {
  std::map<std::string, std::string> wanted;
  for (const Metric* metric : all_metrics())
    wanted[std::string(metric->name)] =
        std::string(word_of(metric->type)) + " " + std::string(metric->labels);
  EXPECT_EQ(documented(), wanted);
}

}  // namespace
}  // namespace symnas::vnfsd::metrics

#include "vnfsd/metrics/page.h"

#include <gtest/gtest.h>

#include "vnfsd/metrics/age.h"

namespace symnas::vnfsd::metrics {
namespace {

bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

TEST(Page, IsTheExpositionFormat) {
  Page page;
  page.add(kVnfsOwner, {"v1", "c1n1"}, 1);
  page.add(kEvents, {"c1n1", "fenced"}, 3);
  const std::string text = page.text();
  EXPECT_TRUE(has(text,
                  "# TYPE symnas_vnfs_owner gauge\n"
                  "symnas_vnfs_owner{vnfs=\"v1\",head=\"c1n1\"} 1\n"))
      << text;
  EXPECT_TRUE(has(text,
                  "# TYPE symnas_events_total counter\n"
                  "symnas_events_total{head=\"c1n1\",kind=\"fenced\"} 3\n"));
  EXPECT_TRUE(has(text, "# TYPE symnas_lun_found gauge\n")) << "one without samples";
}

TEST(Page, LabelsAreEscapedAndUtf8) {
  Page page;
  page.add(kVnfsWanted, {"a\"b\\c\nd"}, 1);
  page.add(kVnfsWanted, {"\xff"}, 0);
  const std::string text = page.text();
  EXPECT_TRUE(has(text, "{vnfs=\"a\\\"b\\\\c\\nd\"} 1\n")) << text;
  EXPECT_TRUE(has(text, "{vnfs=\"\xef\xbf\xbd\"} 0\n")) << text;
}

TEST(Page, HistogramsAreCumulative) {
  constexpr double kBounds[] = {0.5, 1};
  Histogram seen(kBounds);
  for (const double value : {0.5, 0.75, 3.0}) seen.observe(value);
  Page page;
  page.add(kEtcdReadSeconds, {"c1n1"}, seen);
  const std::string text = page.text();
  EXPECT_TRUE(has(text,
                  "symnas_etcd_read_seconds_count{head=\"c1n1\"} 3\n"
                  "symnas_etcd_read_seconds_sum{head=\"c1n1\"} 4.25\n"
                  "symnas_etcd_read_seconds_bucket{head=\"c1n1\",le=\"0.5\"} 1\n"
                  "symnas_etcd_read_seconds_bucket{head=\"c1n1\",le=\"1\"} 2\n"
                  "symnas_etcd_read_seconds_bucket{head=\"c1n1\",le=\"+Inf\"} 3\n"))
      << text;
}

TEST(Page, AgeComesLast) {
  EXPECT_TRUE(with_age("x 1\n", 1.5)
                  .ends_with("# TYPE symnas_page_age_seconds gauge\n"
                             "symnas_page_age_seconds 1.500\n"));
}

}  // namespace
}  // namespace symnas::vnfsd::metrics

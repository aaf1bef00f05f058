#include "vnfsd/records/expected_pause.h"

#include <gtest/gtest.h>

#include "vnfsd/records/history.h"

namespace symnas::vnfsd {
namespace {

constexpr std::int64_t kMs = 1'000'000;

class ExpectedPause : public ::testing::Test {
 protected:
  // The one before leaves at `left_ms`, this one serves pause_ms later.
  void serve(const std::string& head, records::DepartureCause how, std::int64_t pause_ms) {
    const std::int64_t left_ms = 1000 * static_cast<std::int64_t>(tenures.size() + 1);
    if (!tenures.empty()) {
      auto& departure = *tenures.back().mutable_departure();
      departure.set_cause(how);
      add_step(*departure.mutable_steps(), step::kRetiring, left_ms * kMs);
    }
    records::TenureRecord tenure;
    tenure.set_epoch(tenures.size() + 1);
    tenure.set_head(head);
    add_step(*tenure.mutable_arrival(), step::kServing, (left_ms + pause_ms) * kMs);
    tenures.push_back(tenure);
  }
  std::vector<records::TenureRecord> tenures;
};

TEST_F(ExpectedPause, OfWhatNeverMovedNothingIsKnown) {
  EXPECT_EQ(expected_pause(tenures, "b"), "not known, no planned move of it is remembered");
  serve("a", records::DEPARTURE_MOVED, 0);
  serve("b", records::DEPARTURE_FENCED, 900);
  serve("b", records::DEPARTURE_ENDED, 300);
  EXPECT_EQ(expected_pause(tenures, "b"), "not known, no planned move of it is remembered");
}

TEST_F(ExpectedPause, OfMovesToThatHead) {
  serve("a", records::DEPARTURE_MOVED, 0);
  serve("b", records::DEPARTURE_MOVED, 200);
  serve("a", records::DEPARTURE_MOVED, 500);
  serve("b", records::DEPARTURE_MOVED, 100);
  serve("a", records::DEPARTURE_MOVED, 500);
  serve("b", records::DEPARTURE_MOVED, 150);
  EXPECT_EQ(expected_pause(tenures, "b"), "150 ms (median of 3 moves to b; longest 200 ms)");
}

TEST_F(ExpectedPause, ElseOfAllItsMoves) {
  serve("a", records::DEPARTURE_MOVED, 0);
  serve("b", records::DEPARTURE_MOVED, 120);
  EXPECT_EQ(expected_pause(tenures, "c"),
            "120 ms (median of 1 moves, none of them to c; longest 120 ms)");
}

}  // namespace
}  // namespace symnas::vnfsd

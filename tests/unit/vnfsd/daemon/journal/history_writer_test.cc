#include "vnfsd/daemon/journal/history_writer.h"

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/records/history.h"
#include "vnfsd/records/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

class HistoryWriterTest : public HeadWorld {
 protected:
  nlohmann::json history() {
    const auto tenures = read_history(builder.store, "vnfs1", kTestDeadlineMs);
    EXPECT_TRUE(tenures);
    return history_document(*tenures);
  }
  HistoryWriter writer{head, event_writer};
};

TEST_F(HistoryWriterTest, TellsHowItWent) {
  instance::Arrival arrival;
  arrival.epoch = Epoch(1);
  add_step(arrival.steps, step::kClaimed, 1'000'000);
  add_step(arrival.steps, step::kServing, 2'000'000);
  writer.note_arrival("vnfs1", arrival);
  records::Departure departure;
  departure.set_epoch(1);
  add_step(*departure.mutable_steps(), step::kRetiring, 9'000'000);
  writer.note_departure("vnfs1", departure);
  arrival.epoch = Epoch(2);
  arrival.last.set_epoch(1);
  arrival.last.set_cause(records::DEPARTURE_ENDED);
  add_step(*arrival.last.mutable_steps(), step::kEnded, 9'000'000);
  arrival.steps.Clear();
  add_step(arrival.steps, step::kServing, 19'000'000);
  writer.note_arrival("vnfs1", arrival);
  const nlohmann::json seen = history();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0]["cause"], "start");
  EXPECT_EQ(seen[1]["cause"], "restart");
  EXPECT_EQ(seen[1]["blackout_ms"], 10);
  EXPECT_EQ(events(), (std::vector<std::string>{"start", "restart"}));
  const Histogram blackouts = writer.arrivals().at("vnfs1").at("restart").blackouts;
  EXPECT_EQ(blackouts.counts()[0], 1u) << "10 ms are below the first bound";
  EXPECT_EQ(blackouts.sum(), 0.01);
}

TEST_F(HistoryWriterTest, CountsArrivalsByCause) {
  instance::Arrival arrival;
  arrival.epoch = Epoch(1);
  add_step(arrival.steps, step::kServing, 1);
  writer.note_arrival("vnfs1", arrival);
  const auto arrivals = writer.arrivals();
  EXPECT_EQ(arrivals.at("vnfs1").at("start").count, 1u);
}

TEST_F(HistoryWriterTest, WhatWasAdoptedWasNotedWhenItBegan) {
  writer.note_arrival("vnfs1", {});
  EXPECT_TRUE(history().empty());
  EXPECT_TRUE(writer.arrivals().empty());
}

TEST_F(HistoryWriterTest, ForgetsWhatIsOld) {
  for (std::size_t i = 1; i <= kHistoryMax + 3; ++i) {
    instance::Arrival arrival;
    arrival.epoch = Epoch(i);
    add_step(arrival.steps, step::kServing, 1);
    writer.note_arrival("vnfs1", arrival);
  }
  EXPECT_EQ(history().size(), kHistoryMax);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

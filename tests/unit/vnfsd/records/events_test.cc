#include "vnfsd/records/events.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/kv/event_keys.h"
#include "tests/unit/vnfsd/plans/view_builder.h"
#include "vnfsd/records/limits.h"

namespace symnas::vnfsd {
namespace {

class EventsTest : public ::testing::Test {
 protected:
  void write(EventRing& ring, const std::string& text) {
    auto op = ring.put(make_event(event::kChange, text, 5));
    ASSERT_TRUE(op);
    kv::Txn txn;
    txn.success.push_back(std::move(*op));
    ASSERT_TRUE(kv::txn_blocking(builder.store, std::move(txn), kTestDeadlineMs));
  }
  EventPage read(Revision after = {}) {
    const auto page = read_events(builder.store, after, kTestDeadlineMs);
    EXPECT_TRUE(page);
    return page ? *page : EventPage{};
  }
  ViewBuilder builder;
};

TEST(Event, IsAboutWhatItsTextBeginsWith) {
  const auto moved = make_event("move", "vnfs v1: served by c1n2: at last", 7);
  EXPECT_EQ(moved.vnfs(), "v1");
  EXPECT_EQ(moved.head(), "");
  EXPECT_EQ(moved.at_ns(), 7);
  EXPECT_EQ(make_event("fenced", "head c1n1: fenced", 7).head(), "c1n1");
  EXPECT_EQ(make_event("quota", "etcd: full", 7).head(), "");
  EXPECT_EQ(make_event("change", "vnfs with two words: x", 7).vnfs(), "");
  EXPECT_EQ(make_event("change", std::string(9999, 'x'), 7).text().size(), kEventTextBytesMax);
}

TEST(Event, KeysOfARing) { EXPECT_EQ(kv::keys::event("c1n1", 0x7f), "e/c1n1/07f"); }

TEST_F(EventsTest, NothingIsWrittenBeforeItsPlaceIsKnown) {
  EventRing ring("c1n1");
  EXPECT_FALSE(ring.put(make_event(event::kChange, "x", 1)));
}

TEST_F(EventsTest, GoesOnBehindTheLast) {
  EventRing first("c1n1");
  ASSERT_TRUE(first.resume(builder.store, kTestDeadlineMs));
  write(first, "one");
  write(first, "two");
  EventRing next("c1n1");
  ASSERT_TRUE(next.resume(builder.store, kTestDeadlineMs));
  write(next, "three");
  const EventPage page = read();
  ASSERT_EQ(page.events.size(), 3u);
  EXPECT_EQ(page.events[2].record.text(), "three");
  EXPECT_EQ(page.events[2].record.sequence(), 3u);
  EXPECT_EQ(page.events[2].by, "c1n1");
}

TEST_F(EventsTest, OfAllHeadsInTheOrderInWhichTheyHappened) {
  EventRing a("c1n1");
  EventRing b("c1n2");
  ASSERT_TRUE(a.resume(builder.store, kTestDeadlineMs));
  ASSERT_TRUE(b.resume(builder.store, kTestDeadlineMs));
  write(b, "one");
  write(a, "two");
  write(b, "three");
  std::string all;
  for (const StoredEvent& event : read().events) all += event.record.text() + " ";
  EXPECT_EQ(all, "one two three ");
}

TEST_F(EventsTest, ResumesWithoutAGap) {
  EventRing ring("c1n1");
  ASSERT_TRUE(ring.resume(builder.store, kTestDeadlineMs));
  write(ring, "one");
  const Revision seen = read().revision;
  EXPECT_TRUE(read(seen).events.empty());
  write(ring, "two");
  const EventPage page = read(seen);
  ASSERT_EQ(page.events.size(), 1u);
  EXPECT_EQ(page.events[0].record.text(), "two");
  EXPECT_TRUE(page.lost.empty());
}

TEST_F(EventsTest, KeepsTheLastOnesAndSaysWhatMayBeLost) {
  EventRing ring("c1n1");
  ASSERT_TRUE(ring.resume(builder.store, kTestDeadlineMs));
  write(ring, "first");
  const Revision seen = read().revision;
  for (std::uint64_t i = 0; i < kEventsPerHead; ++i) write(ring, fmt::format("{}", i));
  const EventPage page = read(seen);
  EXPECT_EQ(page.events.size(), kEventsPerHead);
  EXPECT_EQ(page.events.back().record.text(), fmt::format("{}", kEventsPerHead - 1));
  EXPECT_EQ(page.lost, std::vector<std::string>{"c1n1"});
  EXPECT_TRUE(read().lost.empty());  // who asks for all asks for what is there
}

TEST_F(EventsTest, AChangeBringsItsEventsInItsTransaction) {
  EventRing ring("c1n1");
  ASSERT_TRUE(ring.resume(builder.store, kTestDeadlineMs));
  const EventSink sink = [&](records::EventRecord event) { return ring.put(std::move(event)); };
  const Planner planner = [](const ClusterView& v) {
    return plan_network_create(v, {"nfs0", "eth1", 0, ""});
  };
  ASSERT_TRUE(make_change(builder.store, planner, Mode::kDryRun, sink));
  EXPECT_TRUE(read().events.empty());
  ASSERT_TRUE(make_change(builder.store, planner, Mode::kCommit, sink));
  const EventPage page = read();
  ASSERT_EQ(page.events.size(), 1u);
  EXPECT_EQ(page.events[0].revision, builder.view().networks.at("nfs0").mod_revision);
  EXPECT_EQ(page.events[0].record.kind(), event::kChange);
}

TEST_F(EventsTest, DocumentHasABlackoutOnlyWhereOneIsKnown) {
  EventPage page;
  page.revision = Revision(9);
  page.events.push_back({Revision(8), "c1n1", make_event("move", "vnfs v1: moved", 3)});
  page.events.push_back({Revision(9), "c1n2", make_event("move", "vnfs v1: moved", 4)});
  page.events[1].record.set_blackout_ms(120);
  const auto document = events_document(page);
  EXPECT_EQ(document["revision"], 9);
  EXPECT_FALSE(document["events"][0].contains("blackout_ms"));
  EXPECT_EQ(document["events"][1]["blackout_ms"], 120);
  EXPECT_EQ(document["events"][1]["vnfs"], "v1");
}

}  // namespace
}  // namespace symnas::vnfsd

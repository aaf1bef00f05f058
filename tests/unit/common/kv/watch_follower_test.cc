#include "common/kv/watch_follower.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"

namespace symnas::kv {
namespace {

KeyValue stamp(std::int64_t version, std::int64_t mod, std::int64_t time_ns = 0) {
  std::string value;
  append_be64(value, static_cast<std::uint64_t>(time_ns));
  return KeyValue{"wS", value, Revision(1), Revision(mod), version};
}
WatchEvent event(KeyValue kv) { return WatchEvent{false, std::move(kv)}; }
WatchEvent change(const std::string& key, std::int64_t mod) {
  return event(KeyValue{key, "v", Revision(1), Revision(mod), 1});
}

class WatchFollowerTest : public ::testing::Test {
 protected:
  WatchFollowerTest() {
    options_.stamp_key = "wS";
    options_.mount_key = "wB";
    options_.ended_key = "wBE";
    options_.mount_create_revision = Revision(5);
    follower_.emplace(options_);
  }
  void follow(std::int64_t created, const KeyValue& anchor, std::int64_t read_at) {
    EXPECT_TRUE(follower_->on_created(Revision(created)).read_anchor);
    EXPECT_TRUE(follower_->on_anchor(anchor, Revision(read_at)).open_cache);
  }
  WatchFollower::Step events(std::vector<WatchEvent> events) {
    return follower_->on_events(events);
  }

  SessionOptions options_;
  std::optional<WatchFollower> follower_;
};

TEST_F(WatchFollowerTest, OpensTheCacheAtTheAnchorNotBefore) {
  follower_->on_created(Revision(20));
  EXPECT_TRUE(events({event(stamp(7, 21))}).apply);
  const auto step = follower_->on_anchor(stamp(8, 25), Revision(26));
  ASSERT_TRUE(step.open_cache);
  EXPECT_EQ(*step.open_cache, Revision(25)) << "what came between 20 and 25 is not proved complete";
  EXPECT_FALSE(events({event(stamp(9, 27))}).resync);
}

TEST_F(WatchFollowerTest, AnAnchorThatEventsHaveOvertaken) {
  follower_->on_created(Revision(20));
  events({event(stamp(8, 25)), event(stamp(9, 30))});
  const auto step = follower_->on_anchor(stamp(8, 25), Revision(26));
  EXPECT_EQ(*step.open_cache, Revision(30));
  EXPECT_FALSE(events({event(stamp(10, 31))}).resync);
  WatchFollower gap(options_);
  gap.on_created(Revision(20));
  gap.on_events({event(stamp(10, 30))});
  EXPECT_TRUE(gap.on_anchor(stamp(8, 25), Revision(26)).resync) << "version 9 is missing";
}

TEST_F(WatchFollowerTest, WithoutAStampTheFirstOneIsVersionOne) {
  follower_->on_created(Revision(20));
  EXPECT_TRUE(follower_->on_anchor(std::nullopt, Revision(22)).open_cache);
  EXPECT_FALSE(events({event(stamp(1, 23))}).resync);
  EXPECT_TRUE(events({event(stamp(3, 24))}).resync);
}

TEST_F(WatchFollowerTest, AContiguousStampIsApplied) {
  follow(20, stamp(4, 18), 21);
  const auto step = events({change("wI", 22), event(stamp(5, 22, 777)), event(stamp(6, 24))});
  EXPECT_TRUE(step.apply);
  EXPECT_FALSE(step.resync);
  EXPECT_EQ(follower_->applied(), Revision(24));
  EXPECT_EQ(step.stamps_ns.front(), 777);
}

TEST_F(WatchFollowerTest, AMissingVersionAppliesNothingOfTheCall) {
  follow(20, stamp(4, 18), 21);
  const auto step = events({change("wI", 22), event(stamp(6, 22))});
  EXPECT_FALSE(step.apply);
  EXPECT_TRUE(step.resync);
  EXPECT_FALSE(events({event(stamp(7, 30))}).apply) << "the old watch counts no more";
}

TEST_F(WatchFollowerTest, ADeletedStampIsAGap) {
  follow(20, stamp(4, 18), 21);
  EXPECT_TRUE(events({WatchEvent{true, stamp(0, 22)}}).resync);
}

TEST_F(WatchFollowerTest, TimeTravelIsAGap) {
  follow(20, stamp(4, 18), 21);
  events({event(stamp(5, 25))});
  EXPECT_TRUE(events({change("wI", 24)}).resync);
}

TEST_F(WatchFollowerTest, ALostConnectionGoesOnAndCompactionStartsAnew) {
  follow(20, stamp(4, 18), 21);
  events({event(stamp(5, 25))});
  const auto lost = follower_->on_ended(Error{ErrorCode::kUnavailable, ""});
  EXPECT_FALSE(lost.resync);
  EXPECT_EQ(*lost.watch_from, Revision(26));
  EXPECT_FALSE(follower_->on_created(Revision(25)).read_anchor) << "the cache has been kept";
  EXPECT_FALSE(events({event(stamp(6, 27))}).resync);
  EXPECT_TRUE(follower_->on_ended(Error{ErrorCode::kCompacted, ""}).resync);
  EXPECT_FALSE(follower_->on_too_late().resync) << "under way already";
}

TEST_F(WatchFollowerTest, AMemberThatLagsOpensTheWatchInThePast) {
  follow(20, stamp(4, 18), 21);
  events({event(stamp(5, 25))});
  EXPECT_TRUE(follower_->on_too_late().resync);
  EXPECT_TRUE(follower_->on_created(Revision(22)).read_anchor);
  EXPECT_EQ(*follower_->on_anchor(stamp(5, 25), Revision(26)).open_cache, Revision(25));
  EXPECT_FALSE(events({event(stamp(5, 25))}).resync) << "the anchor's own event";
  EXPECT_FALSE(events({event(stamp(6, 27))}).resync);
}

TEST_F(WatchFollowerTest, AnUpdateOfTheSameMountRecordIsNoDisproof) {
  follow(20, stamp(4, 18), 21);
  EXPECT_FALSE(events({event(KeyValue{"wB", "v", Revision(5), Revision(22), 2})}).disproof);
}

TEST_F(WatchFollowerTest, EndRecordAndReplacedMountAreDisproofs) {
  follow(20, stamp(4, 18), 21);
  EXPECT_TRUE(events({change("wBE", 22)}).disproof);
  EXPECT_TRUE(
      events({WatchEvent{true, KeyValue{.key = "wB", .mod_revision = Revision(23)}}}).disproof);
  EXPECT_TRUE(events({event(KeyValue{"wB", "", Revision(24), Revision(24), 1})}).disproof);
}

}  // namespace
}  // namespace symnas::kv

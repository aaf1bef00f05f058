#include "vnfsd/daemon/journal/event_writer.h"

#include "common/kv/admin_keys.h"
#include "tests/unit/vnfsd/daemon/head_world.h"
#include "vnfsd/daemon/journal/commit.h"
#include "vnfsd/daemon/journal/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

using Kinds = std::vector<std::string>;

class EventWriterTest : public HeadWorld {
 protected:
  // etcd is as full as that, of a quota of a thousand bytes.
  void fill(std::int64_t in_use_bytes) {
    kv::MemberStatus member;
    member.reachable = true;
    member.db_size_bytes = in_use_bytes;
    member.db_in_use_bytes = in_use_bytes;
    small.look({member});
  }
  kv::QuotaGauge small{1'000};
  EventWriter writer{head, small, [this] { ++told; }};
};

TEST_F(EventWriterTest, WhatIsToldIsWrittenLater) {
  event_writer.tell(event::kHeadDrained, "head c1n3: is drained");
  event_writer.tell(event::kVipTaken, "vnfs v1: not taken");
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(events().empty());
  EXPECT_TRUE(event_writer.write_one());
  EXPECT_EQ(events(), Kinds{"head-drained"});
  EXPECT_TRUE(event_writer.write_one());
  EXPECT_FALSE(event_writer.write_one());
  EXPECT_EQ(events(), (Kinds{"head-drained", "vip-taken"}));
}

TEST_F(EventWriterTest, CountsByKind) {
  EXPECT_TRUE(event_writer.counts().empty());
  event_writer.tell(event::kVipTaken, "vnfs v1: not taken");
  event_writer.tell(event::kVipTaken, "vnfs v2: not taken");
  write_told();
  EXPECT_EQ(event_writer.counts(), (std::map<std::string, std::uint64_t>{{"vip-taken", 2}}));
}

TEST_F(EventWriterTest, RemindsOnlyOfWhatWaits) {
  event_writer.remind();
  EXPECT_EQ(told, 0);
  event_writer.tell(event::kHeadDrained, "head c1n3: is drained");
  event_writer.remind();
  EXPECT_EQ(told, 2);
}

TEST_F(EventWriterTest, TheOldestGoesWhenTooManyWait) {
  for (std::size_t i = 0; i < kEventsWaitingMax + 1; ++i)
    event_writer.tell(event::kVipTaken, "vnfs v" + std::to_string(i) + ": not taken");
  std::size_t written = 0;
  while (event_writer.write_one()) ++written;
  EXPECT_EQ(written, kEventsWaitingMax);
}

TEST_F(EventWriterTest, WhatEveryHeadSeesIsWrittenOnce) {
  event_writer.tell(event::kHeadSilent, "head c1n2: is not heard");
  event_writer.tell(event::kHeadSilent, "head c1n2: is not heard");
  event_writer.tell(event::kHeadSilent, "head c1n1: is not heard");
  event_writer.tell(event::kHeadHeard, "head c1n2: is heard again");
  event_writer.tell(event::kHeadHeard, "head c1n2: is heard again");
  write_told();
  EXPECT_EQ(events(), (Kinds{"head-silent", "head-silent", "head-heard"}));
}

TEST_F(EventWriterTest, AFullEtcdGoesWithoutEvents) {
  ASSERT_TRUE(writer.resume());
  fill(990);
  ASSERT_EQ(small.level(), kv::QuotaLevel::kCritical);
  EXPECT_FALSE(writer.op(make_event(event::kChange, "volume v1: created", 1)));
  EXPECT_TRUE(writer.op(make_event(event::kQuota, "etcd: full", 1)));
}

TEST_F(EventWriterTest, BeforeItKnowsItsPlaceNothingIsWritten) {
  EXPECT_FALSE(writer.op(make_event(event::kChange, "volume v1: created", 1)));
}

TEST_F(EventWriterTest, AChangeIsAnEventOfTheSameTransaction) {
  const auto done = commit(
      head, event_writer,
      [](const ClusterView& v) {
        return plan_network_create(v, {"nfs0", "eth1", 0, ""});
      },
      Mode::kCommit);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(events(), Kinds{"change"});
}

TEST_F(EventWriterTest, ARemovedHeadChangesNothing) {
  builder.put(kv::keys::kRemoved + "c1n3", records::RemovedHeadRecord().SerializeAsString());
  const Planner any = [](const ClusterView&) { return Result<Change>(Change{"any", {}}); };
  EXPECT_EQ(code_of(commit(head, event_writer, any, Mode::kCommit)), ErrorCode::kForeign);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

#include "vnfsd/daemon/follow/cluster_copy.h"

#include <gtest/gtest.h>

#include "common/kv/keys.h"

namespace symnas::vnfsd::daemon {
namespace {

kv::KeyValue owner(const std::string& vnfs, const std::string& head, std::int64_t revision) {
  records::OwnerRecord record;
  record.set_head(head);
  kv::KeyValue kv;
  kv.key = kv::keys::kOwners + vnfs;
  kv.value = record.SerializeAsString();
  kv.mod_revision = Revision{revision};
  return kv;
}

kv::WatchEvent put(const std::string& vnfs, const std::string& head, std::int64_t revision) {
  return {false, owner(vnfs, head, revision)};
}

kv::WatchEvent erased(const std::string& vnfs, std::int64_t revision) {
  kv::WatchEvent event{true, {}};
  event.kv.key = kv::keys::kOwners + vnfs;
  event.kv.mod_revision = Revision{revision};
  return event;
}

class ClusterCopyTest : public testing::Test {
 protected:
  bool fill(std::vector<kv::KeyValue> kvs, std::int64_t revision) {
    return copy.fill({std::move(kvs), Revision{revision}}, copy.watch());
  }
  // "vnfs1=c1n1 vnfs2=c1n2 @7"; "" when it says nothing.
  std::string shown() const {
    const auto view = copy.view();
    if (!view) return "";
    std::string text;
    for (const auto& [vnfs, stored] : (*view)->owners)
      text += vnfs + "=" + stored.record.head() + " ";
    return text + "@" + std::to_string((*view)->revision.value());
  }
  ClusterCopy copy;
};

TEST_F(ClusterCopyTest, SaysNothingBeforeItIsFilled) {
  EXPECT_EQ(shown(), "");
  copy.watch_began();
  copy.apply({put("vnfs1", "c1n1", 5)});
  EXPECT_EQ(shown(), "");
  fill({owner("vnfs1", "c1n1", 5)}, 6);
  EXPECT_EQ(shown(), "vnfs1=c1n1 @6");
}

TEST_F(ClusterCopyTest, FollowsTheWatch) {
  copy.watch_began();
  fill({owner("vnfs1", "c1n1", 5)}, 6);
  copy.apply({erased("vnfs1", 7), put("vnfs2", "c1n2", 7)});
  EXPECT_EQ(shown(), "vnfs2=c1n2 @7");
  copy.apply({put("vnfs1", "c1n3", 9)});
  EXPECT_EQ(shown(), "vnfs1=c1n3 vnfs2=c1n2 @9");
}

// The watch may bring what happened before the reading after it, and the other way round.
TEST_F(ClusterCopyTest, TakesEveryEventOnce) {
  copy.watch_began();
  copy.apply({put("vnfs1", "c1n1", 5), erased("vnfs2", 8)});
  fill({owner("vnfs2", "c1n2", 3)}, 6);  // vnfs1 was erased at 6
  EXPECT_EQ(shown(), "@8");
  copy.apply({erased("vnfs1", 6)});
  fill({owner("vnfs3", "c1n3", 10)}, 10);
  copy.apply({put("vnfs3", "c1n1", 9), put("vnfs4", "c1n4", 11)});
  EXPECT_EQ(shown(), "vnfs3=c1n3 vnfs4=c1n4 @11");
}

TEST_F(ClusterCopyTest, AnOlderReadingChangesNothing) {
  copy.watch_began();
  fill({}, 6);
  copy.apply({put("vnfs1", "c1n1", 7)});
  fill({owner("vnfs2", "c1n2", 3)}, 6);
  EXPECT_EQ(shown(), "vnfs1=c1n1 @7");
}

TEST_F(ClusterCopyTest, TellsWhenAReadingShowsMoreThanTheWatchDid) {
  copy.watch_began();
  EXPECT_FALSE(fill({owner("vnfs1", "c1n1", 5)}, 6));
  EXPECT_FALSE(fill({owner("vnfs1", "c1n1", 5)}, 9)) << "others have written elsewhere";
  EXPECT_TRUE(fill({owner("vnfs1", "c1n2", 11)}, 12));
  EXPECT_TRUE(fill({}, 13));
}

TEST_F(ClusterCopyTest, SaysNothingThatIsOlderThanWhatWasDoneHere) {
  copy.watch_began();
  fill({owner("vnfs1", "c1n1", 5)}, 6);
  copy.must_show(Revision{8});
  EXPECT_EQ(shown(), "");
  copy.apply({put("vnfs1", "c1n2", 7)});
  EXPECT_EQ(shown(), "");
  copy.apply({put("vnfs1", "c1n3", 8)});
  EXPECT_EQ(shown(), "vnfs1=c1n3 @8");
  copy.must_show(Revision{3});
  EXPECT_EQ(shown(), "vnfs1=c1n3 @8");
}

// What happened between the reading and the beginning of the watch would be missing.
TEST_F(ClusterCopyTest, IsNotFilledByWhatWasReadBeforeTheWatchBegan) {
  fill({owner("vnfs1", "c1n1", 5)}, 6);
  EXPECT_EQ(shown(), "");
  const std::uint64_t before = copy.watch();
  copy.watch_began();
  copy.fill({{owner("vnfs1", "c1n1", 5)}, Revision{6}}, before);
  EXPECT_EQ(shown(), "");
}

TEST_F(ClusterCopyTest, SaysNothingWhenTheWatchIsOver) {
  copy.watch_began();
  fill({owner("vnfs1", "c1n1", 5)}, 6);
  const std::uint64_t first = copy.watch();
  copy.watch_ended();
  EXPECT_EQ(shown(), "");
  copy.watch_began();
  copy.fill({{owner("vnfs1", "c1n1", 5)}, Revision{6}}, first);
  EXPECT_EQ(shown(), "");
  fill({owner("vnfs1", "c1n2", 8)}, 8);
  EXPECT_EQ(shown(), "vnfs1=c1n2 @8");
}

TEST_F(ClusterCopyTest, ARecordThatCannotBeParsedIsAnError) {
  copy.watch_began();
  kv::KeyValue broken = owner("vnfs1", "c1n1", 5);
  broken.value = "\xff";
  fill({broken}, 6);
  const auto view = copy.view();
  ASSERT_TRUE(view);
  EXPECT_EQ(view->error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

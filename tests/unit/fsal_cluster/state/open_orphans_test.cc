#include "fsal_cluster/state/open_orphans.h"

#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {
namespace {

namespace keys = kv::keys;
constexpr FsId kFs{7};

enum class Kind { kOpen, kDeadMap };
kv::KeyValue orphan(Ino ino, std::int64_t revision, Kind kind) {
  records::Orphan record;
  record.set_open(kind == Kind::kOpen);
  record.set_mount(4);
  return {keys::orphan(kFs, ino), record.SerializeAsString(), Revision{5}, Revision{revision}, 1};
}

TEST(OpenOrphansTest, FollowsTheOpenOnes) {
  OpenOrphans orphans(kFs);
  EXPECT_FALSE(orphans.image());
  orphans.on_image({orphan(Ino{17}, 10, Kind::kOpen), orphan(Ino{18}, 11, Kind::kDeadMap)},
                   Revision{20});
  ASSERT_TRUE(orphans.image());
  ASSERT_EQ(orphans.image()->orphans.size(), 1u);
  EXPECT_EQ(orphans.image()->orphans[0].ino, Ino{17});
  EXPECT_EQ(orphans.image()->orphans[0].mount, MountId{4});
  EXPECT_EQ(orphans.image()->orphans[0].revision, Revision{10});
  orphans.on_events({{false, orphan(Ino{18}, 21, Kind::kOpen)}}, Revision{21});
  EXPECT_EQ(orphans.image()->orphans.size(), 2u);
  orphans.on_events({{false, orphan(Ino{17}, 22, Kind::kDeadMap)}}, Revision{22});
  EXPECT_EQ(orphans.image()->orphans.size(), 1u) << "its inode is gone, its map is not";
  orphans.on_events({{true, orphan(Ino{18}, 23, Kind::kOpen)}}, Revision{25});
  EXPECT_TRUE(orphans.image()->orphans.empty());
  EXPECT_EQ(orphans.image()->newest, Revision{25});
  orphans.on_lost();
  EXPECT_FALSE(orphans.image());
}

}  // namespace
}  // namespace symnas::fs

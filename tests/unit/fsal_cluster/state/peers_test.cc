#include "fsal_cluster/state/peers.h"

#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {
namespace {

namespace keys = kv::keys;

constexpr FsId kFs{7};
constexpr MountId kSelf{3};
constexpr MountId kOther{4};
constexpr MountId kThird{5};

kv::KeyValue key_value(std::string key, std::int64_t revision, std::string value = "") {
  return {std::move(key), std::move(value), Revision{revision}, Revision{revision}, 1};
}

std::string heartbeat(std::int64_t quiesced, std::int64_t looked, std::int64_t allocated = 0) {
  records::HeartbeatRecord record;
  record.set_quiesced(static_cast<std::uint64_t>(quiesced));
  record.set_looked(static_cast<std::uint64_t>(looked));
  record.set_allocated_blocks(allocated);
  return record.SerializeAsString();
}

class PeersTest : public testing::Test {
 protected:
  void put(std::string key, std::int64_t revision, std::string value = "") {
    peers.on_events({{false, key_value(std::move(key), revision, std::move(value))}},
                    Revision{revision});
  }
  void erase(std::string key, std::int64_t revision) {
    peers.on_events({{true, key_value(std::move(key), revision)}}, Revision{revision});
  }
  void begin(std::vector<kv::KeyValue> more = {}) {
    more.push_back(key_value(keys::mount(kFs, kSelf), 10));
    peers.on_image(more, Revision{20});
  }
  Peers peers{kFs, kSelf};
};

TEST_F(PeersTest, NothingIsKnownBeforeTheImage) {
  EXPECT_FALSE(peers.newest());
  EXPECT_FALSE(peers.living());
  EXPECT_FALSE(peers.no_others());
  EXPECT_FALSE(peers.has_ended(kOther)) << "an unknown mount may be alive";
  EXPECT_FALSE(peers.held_by_others(Ino{17}));
  EXPECT_EQ(peers.quiesced(), Revision{0});
  EXPECT_EQ(peers.looked(), Revision{0});
}

TEST_F(PeersTest, AloneOnlyWithoutAnyOtherRecord) {
  begin();
  EXPECT_TRUE(peers.no_others());
  put(keys::mount(kFs, kOther), 21);
  EXPECT_FALSE(peers.no_others());
  EXPECT_EQ(peers.living(), std::vector{kOther});
  put(keys::mount_ended(kFs, kOther), 22);
  EXPECT_EQ(peers.living(), std::vector<MountId>{});
  EXPECT_EQ(peers.ended(), (std::vector<Peers::Ended>{{kOther, false}}));
  EXPECT_TRUE(peers.has_ended(kOther));
  EXPECT_FALSE(peers.no_others()) << "what it left is still to be taken over";
  erase(keys::mount(kFs, kOther), 23);
  EXPECT_FALSE(peers.no_others());
  erase(keys::mount_ended(kFs, kOther), 23);
  EXPECT_TRUE(peers.no_others());
}

TEST_F(PeersTest, ProgressIsThatOfTheSlowestLivingMount) {
  begin({key_value(keys::mount(kFs, kOther), 12), key_value(keys::mount(kFs, kThird), 15)});
  EXPECT_EQ(peers.quiesced(), Revision{12}) << "no mount begins I/O before its claim";
  put(keys::heartbeat(kFs, kOther), 30, heartbeat(25, 26));
  EXPECT_EQ(peers.quiesced(), Revision{15});
  put(keys::heartbeat(kFs, kThird), 31, heartbeat(29, 28));
  EXPECT_EQ(peers.quiesced(), Revision{25});
  EXPECT_EQ(peers.looked(), Revision{26});
  put(keys::mount_ended(kFs, kOther), 32);
  EXPECT_EQ(peers.quiesced(), Revision{29}) << "the I/O of an ended mount is over";
  put(keys::mount_ended(kFs, kThird), 33);
  EXPECT_EQ(peers.quiesced(), Revision{33}) << "a later mount is not known yet";
}

TEST_F(PeersTest, SoloAndWhoWantsIt) {
  begin();
  EXPECT_FALSE(peers.solo());
  put(keys::solo(kFs), 21, "3");
  ASSERT_TRUE(peers.solo());
  EXPECT_EQ(peers.solo()->holder, kSelf);
  EXPECT_EQ(peers.solo()->revision, Revision{21});
  EXPECT_FALSE(peers.solo_wanted());
  put(keys::want_solo(kFs), 22, "9");
  EXPECT_TRUE(peers.solo_wanted());
  erase(keys::want_solo(kFs), 23);
  erase(keys::solo(kFs), 23);
  EXPECT_FALSE(peers.solo());
  EXPECT_FALSE(peers.solo_wanted());
}

TEST_F(PeersTest, HoldsCountWhileTheirMountLives) {
  begin({key_value(keys::mount(kFs, kOther), 12)});
  put(keys::hold(kFs, Ino{17}, kSelf), 21);
  EXPECT_EQ(peers.held_by_others(Ino{17}), false);
  EXPECT_TRUE(peers.holds(kSelf, Ino{17}));
  put(keys::hold(kFs, Ino{17}, kOther), 22);
  EXPECT_EQ(peers.held_by_others(Ino{17}), true);
  EXPECT_EQ(peers.held_by_others(Ino{18}), false);
  put(keys::mount_ended(kFs, kOther), 23);
  EXPECT_EQ(peers.held_by_others(Ino{17}), false);
  erase(keys::hold(kFs, Ino{17}, kSelf), 24);
  EXPECT_FALSE(peers.holds(kSelf, Ino{17}));
}

TEST_F(PeersTest, ALostImageIsUnknownUntilTheNextOne) {
  begin({key_value(keys::mount(kFs, kOther), 12), key_value(keys::solo(kFs), 13, "3"),
         key_value(keys::want_solo(kFs), 14, "9")});
  peers.on_lost();
  EXPECT_FALSE(peers.living());
  EXPECT_FALSE(peers.solo());
  EXPECT_FALSE(peers.solo_wanted());
  EXPECT_TRUE(peers.ended().empty());
  EXPECT_EQ(peers.quiesced(), Revision{0});
  begin();
  EXPECT_TRUE(peers.no_others()) << "the next image stands in place of the last one";
  EXPECT_FALSE(peers.solo_wanted());
}

TEST_F(PeersTest, ListsWhatTheOthersHaveAllocated) {
  begin({key_value(keys::mount(kFs, kOther), 12)});
  put(keys::heartbeat(kFs, kSelf), 21, heartbeat(1, 1, 100));
  put(keys::heartbeat(kFs, kOther), 22, heartbeat(1, 1, -8));
  EXPECT_EQ(peers.allocated_blocks(), (std::map<MountId, std::int64_t>{{kOther, -8}}));
}

TEST_F(PeersTest, EachChangeWakes) {
  int woken = 0;
  peers.on_change([&] { ++woken; });
  begin();
  put(keys::mount(kFs, kOther), 21);
  EXPECT_EQ(woken, 2);
  peers.on_events({}, Revision{25});
  EXPECT_EQ(woken, 2) << "nothing has changed but the revision";
  EXPECT_EQ(peers.newest(), Revision{25});
  peers.on_lost();
  EXPECT_EQ(woken, 3);
  peers.on_change(nullptr);
  begin();
  EXPECT_EQ(woken, 3);
}

}  // namespace
}  // namespace symnas::fs

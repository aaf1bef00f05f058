#include "fsal_cluster/token/token_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/base/instance_counters.h"
#include "common/kv/keys.h"

namespace symnas::fs {
namespace {

constexpr FsId kFs{7};
constexpr MountId kMine{1};
constexpr MountId kOther{2};
constexpr Ino kIno{20};

class TokenTableTest : public testing::Test {
 protected:
  static kv::KeyValue token(MountId mount, records::TokenRecord::Mode mode, bool wrote,
                            std::int64_t revision) {
    records::TokenRecord record;
    record.set_mode(mode);
    record.set_wrote(wrote);
    return value(kv::keys::token(kFs, kIno, mount), record.SerializeAsString(), revision);
  }
  static kv::KeyValue want(MountId mount, std::int64_t revision) {
    records::WantRecord record;
    record.set_kind(records::WantRecord::X);
    record.set_mount(mount.value());
    return value(kv::keys::want(kFs, kIno), record.SerializeAsString(), revision);
  }
  static kv::KeyValue value(std::string key, std::string bytes, std::int64_t revision) {
    kv::KeyValue out;
    out.key = std::move(key);
    out.value = std::move(bytes);
    out.mod_revision = Revision(revision);
    return out;
  }
  void event(kv::KeyValue kv) {
    const Revision newest = kv.mod_revision;
    table.on_events({kv::WatchEvent{false, std::move(kv)}}, newest);
  }
  void erased(const std::string& key, std::int64_t revision) {
    table.on_events({kv::WatchEvent{true, value(key, "", revision)}}, Revision(revision));
  }

  TokenTable table{kFs, kMine};
};

TEST_F(TokenTableTest, KnowsWhoHoldsNothing) {
  using Holds = TokenTable::Holds;
  EXPECT_EQ(table.holds(kOther), Holds::kUnknown);
  table.on_image({token(kOther, records::TokenRecord::X, true, 5)}, Revision(9));
  EXPECT_EQ(table.holds(kOther), Holds::kTokens);
  EXPECT_EQ(table.holds(kMine), Holds::kNothing);
  event(token(kOther, records::TokenRecord::S, true, 10));  // the same one, changed
  erased(kv::keys::token(kFs, kIno, kOther), 11);
  EXPECT_EQ(table.holds(kOther), Holds::kNothing);
  event(token(kMine, records::TokenRecord::S, false, 12));
  table.on_lost();
  EXPECT_EQ(table.holds(kOther), Holds::kUnknown);
  table.on_image({}, Revision(13));
  EXPECT_EQ(table.holds(kMine), Holds::kNothing) << "a new image replaces the old one";
}

TEST_F(TokenTableTest, KnowsNothingBeforeTheImageAndAfterALoss) {
  EXPECT_FALSE(table.sight(kIno).complete);
  table.on_image({token(kOther, records::TokenRecord::X, true, 5)}, Revision(9));
  TokenSight sight = table.sight(kIno);
  EXPECT_TRUE(sight.complete);
  EXPECT_TRUE(sight.foreign && sight.foreign_exclusive && sight.foreign_wrote);
  EXPECT_EQ(sight.at, Revision(9));
  table.on_lost();
  EXPECT_FALSE(table.sight(kIno).complete);
  table.on_image({}, Revision(12));
  EXPECT_FALSE(table.sight(kIno).foreign) << "a new image replaces the old one";
}

TEST_F(TokenTableTest, CountsItsOwnTokens) {
  const std::int64_t before = instance_counters().tokens_held;
  const auto held = [&] { return instance_counters().tokens_held - before; };
  table.on_image({token(kMine, records::TokenRecord::S, false, 5),
                  token(kOther, records::TokenRecord::S, false, 6)},
                 Revision(9));
  EXPECT_EQ(held(), 1);
  event(token(kMine, records::TokenRecord::X, true, 10));  // the same one, changed
  EXPECT_EQ(held(), 1);
  table.on_lost();
  table.on_image({token(kMine, records::TokenRecord::S, false, 12)}, Revision(13));
  EXPECT_EQ(held(), 1) << "of the new image only";
  erased(kv::keys::token(kFs, kIno, kMine), 14);
  EXPECT_EQ(held(), 0);
}

TEST_F(TokenTableTest, TellsMineFromOthers) {
  table.on_image({token(kMine, records::TokenRecord::X, true, 5)}, Revision(9));
  EXPECT_TRUE(table.sight(kIno).mine);
  EXPECT_FALSE(table.sight(kIno).foreign);
  event(token(kOther, records::TokenRecord::S, false, 10));
  EXPECT_TRUE(table.sight(kIno).foreign);
  EXPECT_FALSE(table.sight(kIno).foreign_exclusive);
  erased(kv::keys::token(kFs, kIno, kOther), 11);
  EXPECT_FALSE(table.sight(kIno).foreign);
  EXPECT_EQ(table.sight(kIno).at, Revision(11));
}

TEST_F(TokenTableTest, AnUnreadableTokenStandsInTheWay) {
  table.on_image({value(kv::keys::token(kFs, kIno, kOther), "\xff", 5)}, Revision(9));
  EXPECT_TRUE(table.sight(kIno).foreign_exclusive);
}

TEST_F(TokenTableTest, WakesWhoWaitsForAChange) {
  table.on_image({}, Revision(9));
  int woken = 0;
  const auto wait = [&] { table.when_changed(kIno, table.sight(kIno), [&] { ++woken; }); };
  wait();
  event(token(MountId{3}, records::TokenRecord::S, false, 10));
  EXPECT_EQ(woken, 1);
  const TokenSight old = table.sight(kIno);
  erased(kv::keys::token(kFs, kIno, MountId{3}), 11);
  table.when_changed(kIno, old, [&] { ++woken; });
  EXPECT_EQ(woken, 2) << "it has changed already";
  wait();
  table.on_lost();
  EXPECT_EQ(woken, 3);
  wait();
  table.stop();
  EXPECT_EQ(woken, 4);
  wait();
  EXPECT_EQ(woken, 5) << "no action waits after the end";
}

TEST_F(TokenTableTest, TheListenerHearsOfEveryWantOfOthers) {
  std::vector<MountId> heard;
  table.listen([&](Ino ino, TokenSight::Want asked) {
    EXPECT_EQ(ino, kIno);
    heard.push_back(asked.mount);
  });
  table.on_image({want(kOther, 5)}, Revision(9));
  EXPECT_EQ(heard, std::vector<MountId>{kOther});
  event(token(kMine, records::TokenRecord::S, false, 10));
  EXPECT_EQ(heard.size(), 2u) << "said again when the token it is about appears";
  event(want(kMine, 11));
  EXPECT_EQ(heard.size(), 2u);
}

}  // namespace
}  // namespace symnas::fs

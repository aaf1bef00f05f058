#include "fsal_cluster/reply/known_replies.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"
#include "common/kv/reply_keys.h"
#include "fsal_cluster/reply/limits.h"
#include "fsal_cluster/reply/records.pb.h"

namespace symnas::fs {
namespace {

const std::string kClient(16, 'c');
constexpr std::int64_t kNow = 1'000'000'000'000'000;

Call call(std::uint32_t xid, std::uint64_t checksum = 5, std::uint32_t operation = 0) {
  return {.client = kClient, .xid = xid, .checksum = checksum, .operation = operation};
}

kv::KeyValue record(std::uint64_t epoch, std::uint32_t place, const Call& call, std::uint64_t ino,
                    std::int64_t time_ns = kNow) {
  records::ReplyRecord record;
  record.set_xid(call.xid);
  record.set_checksum(call.checksum);
  record.set_operation(call.operation);
  record.set_time_ns(time_ns);
  record.set_ino(ino);
  record.set_generation(ino + 1);
  kv::KeyValue kv;
  kv.key = kv::keys::reply(FsId{1}, VnfsId{3}, kClient, Epoch{epoch}, place);
  kv.value = record.SerializeAsString();
  return kv;
}

TEST(KnownRepliesTest, AnAnswerBelongsToOneCall) {
  const KnownReplies known({record(4, 0, call(7), 100), record(4, 1, call(8), 0)}, Epoch{5}, kNow);
  EXPECT_EQ(known.find(call(7)), (Done{Ino{100}, Generation{101}}));
  EXPECT_EQ(known.find(call(8)), (Done{Ino{0}, Generation{1}}));
  EXPECT_FALSE(known.find(call(9)));
  EXPECT_FALSE(known.find(call(7, 6))) << "other arguments";
  EXPECT_FALSE(known.find(call(7, 5, 1))) << "another operation of the request";
}

TEST(KnownRepliesTest, OnlyFormerEpochs) {
  const KnownReplies known(
      {record(3, 0, call(1), 1), record(5, 0, call(2), 2), record(6, 0, call(3), 3)}, Epoch{5},
      kNow);
  EXPECT_TRUE(known.find(call(1)));
  EXPECT_FALSE(known.find(call(2)));
  EXPECT_FALSE(known.find(call(3)));
}

TEST(KnownRepliesTest, AClientThatUsesAnXidTwiceGetsNoAnswerForIt) {
  const KnownReplies known({record(3, 0, call(1), 1), record(4, 9, call(1), 2),
                            record(4, 10, call(1), 3), record(4, 11, call(2), 4)},
                           Epoch{5}, kNow);
  EXPECT_FALSE(known.find(call(1)));
  EXPECT_TRUE(known.find(call(2)));
}

TEST(KnownRepliesTest, OldOnesAndRubbishAreNotBelieved) {
  kv::KeyValue rubbish = record(4, 2, call(3), 1);
  rubbish.value = "\xff";
  const KnownReplies known({record(4, 0, call(1), 1, kNow - kReplyAgeMaxNs - 1),
                            record(4, 1, call(2), 1, kNow - kReplyAgeMaxNs), rubbish},
                           Epoch{5}, kNow);
  EXPECT_FALSE(known.find(call(1)));
  EXPECT_TRUE(known.find(call(2)));
  EXPECT_EQ(known.size(), 1u);
}

TEST(KnownRepliesTest, TheBytesOfARecord) {
  const kv::KeyValue kv = record(4, 258, call(7, 9, 2), 100, 1);
  EXPECT_EQ(to_hex(kv.key),
            "662f0000000175410000000363636363636363636363636363636363000000000000000400000102");
  EXPECT_EQ(to_hex(kv.value), "0d070000001109000000000000001802200128643065");
}

}  // namespace
}  // namespace symnas::fs

#include "common/kv/etcd/wire.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/bytes.h"

namespace symnas::kv {
namespace {

Txn sample() {
  Txn inner;
  inner.compares.push_back(mod_revision_is("m", Revision(5)));
  inner.success.push_back(put("k", "v"));
  inner.failure.push_back(erase_range(KeyRange{"a", "b"}));
  Txn txn;
  txn.compares.push_back(range_absent(KeyRange{"r", "s"}));
  txn.compares.push_back(value_is("x", "y"));
  txn.success.push_back(nested(inner));
  Op op = get_range(KeyRange{"c", "d"}, 7);
  op.keys_only = true;
  txn.success.push_back(op);
  return txn;
}

// The bytes on the wire are those of etcd, whatever our .proto says: field numbers of etcd 3.5's
// rpc.proto.
TEST(Wire, request_bytes) {
  EXPECT_EQ(to_hex(wire::encode(sample()).SerializeAsString()),
            // compare r..s version == 0
            "0a091a0172200082040173"
            // compare x value == y
            "0a0810031a01783a0179"
            // success: nested transaction
            "121f221d"
            "0a0710021a016d3005"  // compare m mod_revision == 5
            "12081206"
            "0a016b120176"          // put k v
            "1a081a060a0161120162"  // failure: delete a..b
            // success: range c..d limit 7 keys only
            "120c0a0a0a0163120164180740"
            "01");
}

TEST(Wire, watch_bytes) {
  EXPECT_EQ(to_hex(wire::encode_watch(KeyRange{"a", "b"}, Revision(9)).SerializeAsString()),
            "0a080a01611201621809");
}

TEST(Wire, answers) {
  etcdserverpb::TxnResponse response;
  response.mutable_header()->set_revision(42);
  response.set_succeeded(true);
  response.add_responses()->mutable_response_put();
  response.add_responses()->mutable_response_delete_range()->set_deleted(3);
  auto* range = response.add_responses()->mutable_response_range();
  range->set_count(9);
  range->set_more(true);
  auto* kv = range->add_kvs();
  kv->set_key("k");
  kv->set_value("v");
  kv->set_create_revision(1);
  kv->set_mod_revision(2);
  kv->set_version(3);
  response.add_responses()->mutable_response_txn()->add_responses()->mutable_response_put();
  auto result = wire::decode(response);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->succeeded);
  EXPECT_EQ(result->revision, Revision(42));
  ASSERT_EQ(result->results.size(), 4U);
  EXPECT_EQ(result->results[0].kind, Op::Kind::kPut);
  EXPECT_EQ(result->results[1].kind, Op::Kind::kDelete);
  EXPECT_EQ(result->results[1].count, 3);
  EXPECT_EQ(result->results[2].count, 9);
  EXPECT_TRUE(result->results[2].more);
  EXPECT_EQ(result->results[2].kvs.at(0).value, "v");
  EXPECT_EQ(result->results[2].kvs.at(0).create_revision, Revision(1));
  EXPECT_EQ(result->results[2].kvs.at(0).mod_revision, Revision(2));
  EXPECT_EQ(result->results[2].kvs.at(0).version, 3);
  EXPECT_FALSE(result->results[3].txn->succeeded);
  EXPECT_EQ(result->results[3].txn->results.at(0).kind, Op::Kind::kPut);
}

TEST(Wire, an_empty_answer_is_an_error) {
  etcdserverpb::TxnResponse response;
  response.add_responses();
  auto result = wire::decode(response);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInternal);
}

TEST(Wire, read_only) {
  Txn reads;
  reads.success.push_back(get("a"));
  reads.failure.push_back(nested(reads));
  EXPECT_TRUE(wire::is_read_only(reads));
  EXPECT_TRUE(wire::is_read_only(Txn{}));
  Txn deep = reads;
  Txn writes;
  writes.failure.push_back(erase("a"));
  deep.success.push_back(nested(writes));
  EXPECT_FALSE(wire::is_read_only(deep));
}

}  // namespace
}  // namespace symnas::kv

#include "fsal_cluster/nsm/rpc_message.h"

#include <gtest/gtest.h>

#include "common/base/bytes.h"

namespace symnas::nsm {
namespace {

TEST(RpcMessageTest, TheBytesOfANotice) {
  EXPECT_EQ(to_hex(encode_call(sm_notify(0x01020304, "v1", 7))),
            "01020304"  // xid
            "00000000"  // call
            "00000002"  // RPC version
            "000186b8"  // 100024
            "00000001"
            "00000006"  // SM_NOTIFY
            "0000000000000000"
            "0000000000000000"
            "00000002"
            "76310000"
            "00000007");
}

TEST(RpcMessageTest, TheBytesOfARegistration) {
  EXPECT_EQ(portmap_set(1, Transport::kTcp, 32765).procedure, 1u);
  EXPECT_EQ(to_hex(portmap_set(1, Transport::kTcp, 32765).arguments),
            "000186b8"
            "00000001"
            "00000006"
            "00007ffd");
}

TEST(RpcMessageTest, TheBytesOfARegistrationInIPv6) {
  EXPECT_EQ(rpcbind_set(1, Transport::kTcp, 32765).procedure, 1u);
  EXPECT_EQ(to_hex(rpcbind_set(1, Transport::kTcp, 32765).arguments),
            "000186b8"
            "00000001"
            "0000000474637036"                  // tcp6
            "0000000a3a3a2e3132372e3235330000"  // ::.127.253
            "00000000");
}

TEST(RpcMessageTest, TheBytesForTheNlm) {
  const RpcCall call = nlm_sm_notify(1, "10.0.0.1", 5);
  EXPECT_EQ(call.program, 100021u);
  EXPECT_EQ(call.version, 4u);
  EXPECT_EQ(call.procedure, 16u);
  EXPECT_EQ(to_hex(call.arguments),
            "00000008"
            "31302e302e302e31"
            "00000005" +
                std::string(32, '0'));
}

TEST(RpcMessageTest, CallsAreReadWithAnyCredentials) {
  std::string bytes = encode_call({9, 1, 2, 3, "abcd"});
  const auto plain = decode_call(bytes);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->xid, 9u);
  EXPECT_EQ(plain->procedure, 3u);
  EXPECT_EQ(plain->arguments, "abcd");
  // AUTH_SYS of 8 bytes in place of AUTH_NONE.
  bytes.replace(24, 8,
                std::string("\0\0\0\x01\0\0\0\x08"
                            "12345678",
                            16));
  const auto with_credentials = decode_call(bytes);
  ASSERT_TRUE(with_credentials);
  EXPECT_EQ(with_credentials->arguments, "abcd");
}

TEST(RpcMessageTest, WhatIsNoCallIsNone) {
  const std::string bytes = encode_call({9, 1, 2, 3, ""});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_call(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(decode_call(encode_reply(9, AcceptState::kSuccess, "")));
  std::string endless = bytes;
  endless.replace(28, 4, "\xff\xff\xff\xff");  // length of the credentials
  EXPECT_FALSE(decode_call(endless));
}

TEST(RpcMessageTest, RepliesSayWhetherTheyAreResults) {
  const auto good = decode_reply(encode_reply(9, AcceptState::kSuccess, "abcd"));
  ASSERT_TRUE(good);
  EXPECT_EQ(good->xid, 9u);
  EXPECT_TRUE(good->succeeded);
  EXPECT_EQ(good->results, "abcd");
  const auto bad = decode_reply(encode_reply(9, AcceptState::kProgramMismatch, ""));
  ASSERT_TRUE(bad);
  EXPECT_FALSE(bad->succeeded);
  EXPECT_FALSE(decode_reply(encode_call({9, 1, 2, 3, ""})));
  EXPECT_FALSE(decode_reply(""));
}

TEST(RpcMessageTest, ARecordIsOneFragment) {
  EXPECT_EQ(to_hex(record_mark(28)), "8000001c");
  EXPECT_EQ(fragment_bytes(record_mark(28)), 28u);
  EXPECT_EQ(fragment_bytes(std::string("\0\0\0\x1c", 4)), std::nullopt);
}

}  // namespace
}  // namespace symnas::nsm

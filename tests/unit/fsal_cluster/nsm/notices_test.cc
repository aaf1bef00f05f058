#include "fsal_cluster/nsm/notices.h"

#include <gtest/gtest.h>

#include "fsal_cluster/nsm/limits.h"
#include "fsal_cluster/nsm/rpc_message.h"
#include "fsal_cluster/nsm/xdr.h"

namespace symnas::nsm {
namespace {

const NoticeTarget kClient{"10.0.0.202", "10.0.0.101"};
const NoticeTarget kOther{"10.0.0.203", "10.0.0.101"};
constexpr std::uint16_t kStatdPort = 40'000;

class NoticesTest : public ::testing::Test {
 protected:
  // The only message that is due now.
  Notices::Message only() {
    const auto messages = notices_.due(now_ms_);
    EXPECT_EQ(messages.size(), 1u);
    return messages.empty() ? Notices::Message{} : messages.front();
  }
  static RpcCall call_of(const Notices::Message& message) {
    return decode_call(message.bytes).value_or(RpcCall{});
  }
  static std::string name_in(const Notices::Message& message) {
    const RpcCall call = call_of(message);
    XdrReader in(call.arguments);
    return std::string(in.string(100));
  }
  static std::string port_is(std::uint32_t port) {
    XdrWriter out;
    out.put_u32(port);
    return out.take();
  }
  void answered(const Notices::Message& message, const std::string& results,
                AcceptState state = AcceptState::kSuccess) {
    notices_.received(message.to.client, encode_reply(call_of(message).xid, state, results),
                      now_ms_);
  }
  // Moves to the next moment at which there is something to do.
  void wait() { now_ms_ = notices_.next_ms().value_or(now_ms_); }

  std::uint32_t last_random_ = 0;
  Notices notices_{9, "v1", [this] { return ++last_random_; }};
  std::int64_t now_ms_ = 1000;
};

TEST_F(NoticesTest, AClientIsToldUnderEveryNameThatItMayKnow) {
  notices_.add(kClient, now_ms_);
  const auto lookup = only();
  EXPECT_EQ(lookup.port, kPortmapPort);
  EXPECT_EQ(lookup.to, kClient);
  answered(lookup, port_is(kStatdPort));
  const auto first = only();
  EXPECT_EQ(first.port, kStatdPort);
  EXPECT_EQ(call_of(first).procedure, kSmNotify);
  EXPECT_EQ(name_in(first), "10.0.0.101");
  answered(first, "");
  const auto second = only();
  EXPECT_EQ(name_in(second), "v1");
  answered(second, "");
  EXPECT_EQ(notices_.next_ms(), std::nullopt);
  EXPECT_TRUE(notices_.due(now_ms_ + kGiveUpMs).empty());
  const auto ended = notices_.ended();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].target, kClient);
  EXPECT_EQ(ended[0].how, Notices::End::kTold);
}

TEST_F(NoticesTest, AClientIsToldInIPv6) {
  const NoticeTarget client{"fd00:0:0:2::202", "fd00:0:0:2::101"};
  const auto address_is = [](const std::string& address) {
    XdrWriter out;
    out.put_string(address);
    return out.take();
  };
  notices_.add(client, now_ms_);
  for (const char* unknown : {"", "::.1", "::.0.0"}) {
    const auto lookup = only();
    EXPECT_EQ(lookup.port, kPortmapPort);
    EXPECT_EQ(call_of(lookup).version, 4u);
    answered(lookup, address_is(unknown));
    EXPECT_TRUE(notices_.due(now_ms_).empty());
    wait();
  }
  answered(only(), address_is("::.156.64"));
  const auto notice = only();
  EXPECT_EQ(notice.to, client);
  EXPECT_EQ(notice.port, 40'000);
  EXPECT_EQ(name_in(notice), client.server);
}

TEST_F(NoticesTest, WhatIsNotAnsweredIsRepeatedLessAndLessOften) {
  notices_.add(kClient, now_ms_);
  const auto first = only();
  std::int64_t last_pause_ms = 0;
  for (int i = 0; i < 8; ++i) {
    const std::int64_t before_ms = now_ms_;
    wait();
    const std::int64_t pause_ms = now_ms_ - before_ms;
    EXPECT_GE(4 * pause_ms, 3 * last_pause_ms);  // jitter takes up to a quarter
    EXPECT_LE(pause_ms, kRepeatMaxMs);
    last_pause_ms = pause_ms;
    EXPECT_EQ(only().bytes, first.bytes);  // a late answer to the first one counts
  }
  EXPECT_GE(last_pause_ms, kRepeatMaxMs * 3 / 4);
  answered(first, port_is(kStatdPort));
  EXPECT_EQ(only().port, kStatdPort);
}

TEST_F(NoticesTest, WithoutNetworkItIsTriedSoonAgain) {
  notices_.add(kClient, now_ms_);
  for (int i = 0; i < 20; ++i) {
    notices_.unsent(only().to, now_ms_);
    EXPECT_EQ(notices_.next_ms(), now_ms_ + kNetworkPollMs);
    wait();
  }
  const auto sent = only();
  EXPECT_LE(*notices_.next_ms(), now_ms_ + kRepeatMinMs);
  answered(sent, port_is(kStatdPort));
  EXPECT_EQ(only().port, kStatdPort);
}

TEST_F(NoticesTest, AStatdThatIsNotThereYetIsLookedForAgain) {
  notices_.add(kClient, now_ms_);
  for (const std::uint32_t port : {0u, 70'000u}) {
    answered(only(), port_is(port));
    EXPECT_TRUE(notices_.due(now_ms_).empty());
    wait();
  }
  answered(only(), port_is(kStatdPort));
  EXPECT_EQ(only().port, kStatdPort);
}

TEST_F(NoticesTest, AStatdThatHasMovedIsLookedForAgain) {
  notices_.add(kClient, now_ms_);
  answered(only(), port_is(kStatdPort));
  for (int i = 0; i < kTriesPerPort; ++i) {
    EXPECT_EQ(only().port, kStatdPort);
    wait();
  }
  const auto lookup = only();
  EXPECT_EQ(lookup.port, kPortmapPort);
  answered(lookup, port_is(kStatdPort + 1));
  const auto moved = only();
  EXPECT_EQ(moved.port, kStatdPort + 1);
  answered(moved, "", AcceptState::kProgramUnavailable);
  wait();
  EXPECT_EQ(only().port, kPortmapPort);
}

TEST_F(NoticesTest, AnswersOfOthersAndToOtherCallsAreNone) {
  notices_.add(kClient, now_ms_);
  const auto lookup = only();
  const std::string reply =
      encode_reply(call_of(lookup).xid, AcceptState::kSuccess, port_is(kStatdPort));
  notices_.received(kOther.client, reply, now_ms_);
  notices_.received(kClient.client,
                    encode_reply(call_of(lookup).xid + 1, AcceptState::kSuccess, port_is(1)),
                    now_ms_);
  notices_.received(kClient.client, "nonsense", now_ms_);
  EXPECT_TRUE(notices_.due(now_ms_).empty());
  notices_.received(kClient.client, reply, now_ms_);
  EXPECT_EQ(only().port, kStatdPort);
}

TEST_F(NoticesTest, WhoNeverAnswersIsGivenUpInTheEnd) {
  notices_.add(kClient, now_ms_);
  notices_.add(kClient, now_ms_);
  const std::int64_t start_ms = now_ms_;
  while (notices_.next_ms()) {
    wait();
    static_cast<void>(notices_.due(now_ms_));
  }
  EXPECT_GE(now_ms_, start_ms + kGiveUpMs);
  EXPECT_LE(now_ms_, start_ms + kGiveUpMs + kRepeatMaxMs);
  const auto ended = notices_.ended();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].target, kClient);
  EXPECT_EQ(ended[0].how, Notices::End::kGivenUp);
  EXPECT_TRUE(notices_.ended().empty());
}

TEST_F(NoticesTest, OneClientDoesNotWaitForAnother) {
  notices_.add(kClient, now_ms_);
  notices_.add(kOther, now_ms_);
  const auto messages = notices_.due(now_ms_);
  ASSERT_EQ(messages.size(), 2u);
  answered(messages[1], port_is(kStatdPort));
  EXPECT_EQ(only().to, kOther);
}

}  // namespace
}  // namespace symnas::nsm

#include "vnfsd/api/event_feed.h"

#include <nlohmann/json.hpp>

#include "tests/unit/vnfsd/api/fake_backends.h"
#include "vnfsd/api/event_stream.h"
#include "vnfsd/api/limits.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

json event(std::int64_t revision, const std::string& text) {
  return sample_of("Event", {{"revision", revision}, {"text", text}});
}

class EventFeedTest : public ::testing::Test {
 protected:
  EventFeedTest() { backend.status.page = {{"events", json::array()}, {"revision", 5}}; }
  static ApiRequest stream(Role role = Role::kOperator) {
    ApiRequest request{"GET", "/v1/events/stream", ""};
    request.caller = {"alice", role};
    return request;
  }
  FakeBackends backend;
  Router router{backend.all(), backend.access};
};

TEST_F(EventFeedTest, SendsWhatIsNewAndGoesOnFromThere) {
  EventFeed feed(router, stream());
  EXPECT_EQ(*feed.first(0), ": events of a symnas cluster\n\n");
  backend.status.page = {{"events", {event(7, "a\nb")}}, {"revision", 9}};
  EXPECT_EQ(feed.next(kStreamLookMs - 1), "");
  const std::string sent = feed.next(kStreamLookMs);
  EXPECT_TRUE(sent.starts_with("id: 7\ndata: {")) << sent;
  EXPECT_NE(sent.find(R"("text":"a\nb")"), std::string::npos);
  EXPECT_TRUE(sent.ends_with("}\n\n"));
  backend.status.page = {{"events", json::array()}, {"revision", 9}};
  EXPECT_EQ(feed.next(3 * kStreamLookMs), "");
  EXPECT_EQ(backend.status.after, Revision(9));
}

TEST_F(EventFeedTest, LivesWhileNothingHappensAndWhileEtcdIsAway) {
  EventFeed feed(router, stream());
  ASSERT_TRUE(feed.first(0));
  EXPECT_EQ(feed.next(kStreamHeartbeatMs), ": nothing new\n\n");
  EXPECT_EQ(feed.next(kStreamHeartbeatMs + kStreamLookMs), "");
  backend.status.away = true;
  EXPECT_EQ(feed.next(3 * kStreamHeartbeatMs), ": etcd: away\n\n");
}

TEST_F(EventFeedTest, IsNotBegunForThoseWhoMayNotOrWithoutEtcd) {
  EXPECT_EQ(code_of(EventFeed(router, stream(Role::kViewer)).first(0)), ErrorCode::kPermission);
  backend.status.away = true;
  EXPECT_EQ(code_of(EventFeed(router, stream()).first(0)), ErrorCode::kUnavailable);
}

TEST(EventStream, TheIdStandsAtTheLastEventOfARevision) {
  const std::string sent =
      sse_of_page({{"events", {event(7, "a"), event(7, "b"), event(8, "c")}}, {"lost", {"c1n2"}}});
  EXPECT_TRUE(sent.starts_with("event: lost\ndata: {\"heads\":[\"c1n2\"]}\n\ndata: ")) << sent;
  EXPECT_EQ(sent.find("id: 7"), sent.rfind("id: 7"));
  EXPECT_GT(sent.find("id: 7"), sent.find("\"text\":\"a\""));
  EXPECT_LT(sent.find("id: 7"), sent.find("\"text\":\"b\""));
  EXPECT_NE(sent.find("id: 8"), std::string::npos);
}

TEST(EventStream, CommentsAreOneLineAndIdsAreRevisions) {
  EXPECT_EQ(sse_comment("a\nb\r"), ": a b \n\n");
  EXPECT_EQ(parse_event_id("12"), Revision(12));
  for (const char* text : {"", "x", "-1", "1 ", "99999999999999999999"})
    EXPECT_EQ(parse_event_id(text), std::nullopt) << text;
}

}  // namespace
}  // namespace symnas::vnfsd::api

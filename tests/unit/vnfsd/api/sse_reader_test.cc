#include "vnfsd/api/sse_reader.h"

#include <vector>

#include <gtest/gtest.h>

#include "vnfsd/api/limits.h"

namespace symnas::vnfsd::api {
namespace {

constexpr std::string_view kSent =
    ": hello\n\nevent: lost\ndata: {}\n\nid: 7\r\ndata: a\r\ndata:b\r\n\r\nretry: 3\ndata: c\n\n";

TEST(SseReader, EventsComeWhole) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, kSent.size()}) {
    std::vector<ServerEvent> seen;
    SseReader reader([&](const ServerEvent& event) {
      seen.push_back(event);
      return true;
    });
    for (std::size_t at = 0; at < kSent.size(); at += piece)
      EXPECT_TRUE(reader.feed(kSent.substr(at, piece)));
    ASSERT_EQ(seen.size(), 3u) << piece;
    EXPECT_EQ(seen[0].name, "lost");
    EXPECT_EQ(seen[1].id, "7");
    EXPECT_EQ(seen[1].data, "a\nb");
    EXPECT_EQ(seen[2].id, "");
  }
}

TEST(SseReader, EndsWhenNoMoreIsWantedAndWhenALineNeverEnds) {
  int seen = 0;
  SseReader reader([&](const ServerEvent&) { return ++seen < 1; });
  EXPECT_FALSE(reader.feed(kSent));
  EXPECT_EQ(seen, 1);
  SseReader endless([](const ServerEvent&) { return true; });
  EXPECT_FALSE(endless.feed(std::string(kStreamLineBytesMax + 1, 'x')));
}

}  // namespace
}  // namespace symnas::vnfsd::api

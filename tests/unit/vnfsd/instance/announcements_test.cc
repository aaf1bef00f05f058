#include "vnfsd/instance/announcements.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::instance {
namespace {

constexpr std::int64_t kStartMs = 5'000;

// How often the VIPs are announced again until `until_ms`, by somebody who looks every 100 ms.
int count_until(Announcements& announcements, std::int64_t until_ms) {
  int count = 0;
  for (std::int64_t now_ms = kStartMs; now_ms < until_ms; now_ms += 100) {
    if (!announcements.is_due(now_ms)) continue;
    announcements.done(now_ms);
    ++count;
  }
  return count;
}

TEST(AnnouncementsTest, NothingIsDueBeforeTheFirst) {
  Announcements announcements;
  EXPECT_EQ(count_until(announcements, kStartMs + 60'000), 0);
}

TEST(AnnouncementsTest, TwiceMoreTwoSecondsAfterOneAnother) {
  Announcements announcements;
  announcements.begin(kStartMs);
  EXPECT_FALSE(announcements.is_due(kStartMs + kAnnounceAgainMs - 1));
  EXPECT_TRUE(announcements.is_due(kStartMs + kAnnounceAgainMs));
  EXPECT_EQ(count_until(announcements, kStartMs + 60'000), kAnnounceAgainTimes);
}

TEST(AnnouncementsTest, NotAfterTheVipsHaveGone) {
  Announcements announcements;
  announcements.begin(kStartMs);
  announcements.stop();
  EXPECT_EQ(count_until(announcements, kStartMs + 60'000), 0);
}

TEST(AnnouncementsTest, ALateLookIsNoReasonToHurry) {
  Announcements announcements;
  announcements.begin(kStartMs);
  const std::int64_t late_ms = kStartMs + 10 * kAnnounceAgainMs;
  announcements.done(late_ms);
  EXPECT_FALSE(announcements.is_due(late_ms + kAnnounceAgainMs - 1));
}

}  // namespace
}  // namespace symnas::vnfsd::instance

#include "ha/reservation/journal.h"

#include <fstream>
#include <optional>

#include <gtest/gtest.h>

#include "temporary_directory.h"

namespace symnas::ha {
namespace {

constexpr ReservationKey kKey(0x5300000000000001);

TEST(Journal, RemembersWhatWasBegun) {
  const TemporaryDirectory directory;
  {
    auto journal = Journal::open(directory.path + "/new", kKey);
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_EQ(journal->of("naa.1"), Enrolment::kNever);
    ASSERT_TRUE(journal->note("naa.1", Enrolment::kBegun));
    ASSERT_TRUE(journal->note("naa.2", Enrolment::kBegun));
    ASSERT_TRUE(journal->note("naa.2", Enrolment::kDone));
    ASSERT_TRUE(journal->note("naa.3", Enrolment::kBegun));
    ASSERT_TRUE(journal->note("naa.3", Enrolment::kNever));
  }
  const auto again = Journal::open(directory.path + "/new", kKey);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->of("naa.1"), Enrolment::kBegun);
  EXPECT_EQ(again->of("naa.2"), Enrolment::kDone);
  EXPECT_EQ(again->of("naa.3"), Enrolment::kNever);
}

TEST(Journal, IsOfOneKey) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(Journal::open(directory.path, kKey)->note("naa.1", Enrolment::kDone));
  EXPECT_EQ(Journal::open(directory.path, ReservationKey(2))->of("naa.1"), Enrolment::kNever);
}

// It is the same kernel, whatever name its head has now.
TEST(Journal, KnowsWhatThisBootHasRegisteredWithOtherKeys) {
  const TemporaryDirectory directory;
  {
    auto other = Journal::open(directory.path, kKey);
    ASSERT_TRUE(other->note("naa.begun", Enrolment::kBegun));
    ASSERT_TRUE(other->note("naa.done", Enrolment::kDone));
    ASSERT_TRUE(other->note("naa.refused", Enrolment::kBegun));
    ASSERT_TRUE(other->note("naa.refused", Enrolment::kNever));
    ASSERT_TRUE(other->note("naa.back", Enrolment::kDone));
    ASSERT_TRUE(other->note("naa.back", Enrolment::kWithdrawn));
    EXPECT_EQ(other->other_key_of("naa.done"), "");
  }
  std::ofstream(directory.path + "/README") << "no journal\n";
  const auto journal = Journal::open(directory.path, ReservationKey(2));
  ASSERT_TRUE(journal) << journal.error().message;
  EXPECT_EQ(journal->other_key_of("naa.begun"), render_key(kKey));
  EXPECT_EQ(journal->other_key_of("naa.done"), render_key(kKey));
  for (const char* lun : {"naa.refused", "naa.back", "naa.new"})
    EXPECT_EQ(journal->other_key_of(lun), "") << lun;
  std::ofstream(directory.path + "/" + render_key(ReservationKey(3))) << "what\n";
  EXPECT_EQ(Journal::open(directory.path, ReservationKey(4)).error().code, ErrorCode::kPermission);
}

TEST(Journal, IsOpenOnce) {
  const TemporaryDirectory directory;
  std::optional first = Journal::open(directory.path, kKey);
  EXPECT_EQ(Journal::open(directory.path, kKey).error().code, ErrorCode::kUnavailable);
  first.reset();
  EXPECT_TRUE(Journal::open(directory.path, kKey));
}

TEST(Journal, ALineThatIsNoneOfOursIsNotPassedOver) {
  for (const char* text :
       {"begun", "done naa.1 more\n", "began naa.1\n", "\n", "done naa.1\nbegun na"}) {
    const TemporaryDirectory directory;
    ASSERT_TRUE(Journal::open(directory.path, kKey));
    std::ofstream(directory.path + "/" + render_key(kKey)) << text;
    const auto journal = Journal::open(directory.path, kKey);
    ASSERT_FALSE(journal) << text;
    EXPECT_EQ(journal.error().code, ErrorCode::kPermission) << text;
  }
}

TEST(Journal, NamesTheDirectoryThatCannotBeMade) {
  const auto journal = Journal::open("/proc/no/such", kKey);
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().message.find("/proc/no/such"), std::string::npos);
}

}  // namespace
}  // namespace symnas::ha

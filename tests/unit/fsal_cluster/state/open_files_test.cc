#include "fsal_cluster/state/open_files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

namespace symnas::fs {
namespace {

constexpr Ino kIno{17};

TEST(OpenFilesTest, AClosedInodeIsRemoved) {
  OpenFiles files;
  EXPECT_FALSE(files.begin_removal(kIno).open());
  files.opened(kIno);
  EXPECT_EQ(files.closed(kIno), OpenFiles::Closed::kStillNeeded);
  EXPECT_FALSE(files.begin_removal(kIno).open());
}

TEST(OpenFilesTest, TheLastCloseOfAnOrphanIsReportedOnce) {
  OpenFiles files;
  files.opened(kIno);
  files.opened(kIno);
  {
    auto removal = files.begin_removal(kIno);
    ASSERT_TRUE(removal.open());
    removal.orphaned();
  }
  EXPECT_EQ(files.closed(kIno), OpenFiles::Closed::kStillNeeded);
  EXPECT_EQ(files.closed(kIno), OpenFiles::Closed::kLastOfOrphan);
}

TEST(OpenFilesTest, ARemovalThatDidNotHappenLeavesNoOrphan) {
  OpenFiles files;
  files.opened(kIno);
  { const auto removal = files.begin_removal(kIno); }
  EXPECT_EQ(files.closed(kIno), OpenFiles::Closed::kStillNeeded);
}

TEST(OpenFilesTest, AnOpenWaitsForTheDecision) {
  OpenFiles files;
  std::atomic<bool> opened{false};
  std::optional<OpenFiles::Removal> removal(files.begin_removal(kIno));
  std::thread opener([&] {
    files.opened(kIno);
    opened = true;
  });
  EXPECT_FALSE(opened) << "the count stands still while the removal runs";
  removal.reset();
  opener.join();
  EXPECT_TRUE(opened);
  EXPECT_TRUE(files.begin_removal(kIno).open());
}

TEST(OpenFilesTest, ACloseDuringARemovalCountsAtItsEnd) {
  OpenFiles files;
  files.opened(kIno);
  files.opened(kIno);
  {
    auto removal = files.begin_removal(kIno);
    EXPECT_EQ(files.closed(kIno), OpenFiles::Closed::kStillNeeded);  // does not wait
    EXPECT_EQ(removal.orphaned(), OpenFiles::Closed::kStillNeeded);
  }
  {
    auto removal = files.begin_removal(kIno);
    ASSERT_TRUE(removal.open());
    EXPECT_EQ(files.closed(kIno), OpenFiles::Closed::kStillNeeded);
    EXPECT_EQ(removal.orphaned(), OpenFiles::Closed::kLastOfOrphan);
  }
  EXPECT_FALSE(files.begin_removal(kIno).open());
}

TEST(OpenFilesTest, ACloseDuringARemovalThatFailsIsNotLost) {
  OpenFiles files;
  files.opened(kIno);
  {
    const auto removal = files.begin_removal(kIno);
    EXPECT_EQ(files.closed(kIno), OpenFiles::Closed::kStillNeeded);
  }
  EXPECT_FALSE(files.begin_removal(kIno).open());
}

TEST(OpenFilesTest, RemovalsOfOneInodeWaitForEachOther) {
  OpenFiles files;
  std::optional<OpenFiles::Removal> first(files.begin_removal(kIno));
  std::atomic<bool> second_began{false};
  std::thread second([&] {
    const auto removal = files.begin_removal(kIno);
    second_began = true;
  });
  EXPECT_FALSE(second_began);
  first.reset();
  second.join();
  EXPECT_TRUE(second_began);
}

}  // namespace
}  // namespace symnas::fs

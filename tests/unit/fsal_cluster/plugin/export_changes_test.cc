#include "fsal_cluster/plugin/export_changes.h"

#include <set>

#include <gtest/gtest.h>

namespace symnas::plugin {
namespace {

using Export = InstanceFile::Export;

class ExportChangesTest : public ::testing::Test {
 protected:
  ExportChanges changes{
      {{1, "/a", "A"}, {2, "/b", "B"}},
      {[this](const Export& one) -> Status {
         calls.push_back("set " + one.pseudo + " " + one.block);
         if (one.block == refused) return fail(ErrorCode::kIo, "refused");
         return {};
       },
       [this](std::uint16_t id) { calls.push_back("remove " + std::to_string(id)); },
       [this](std::uint16_t id) { return !left_out.contains(id); }}};
  std::vector<std::string> called(const std::vector<Export>& wanted) {
    calls.clear();
    status = changes.follow(wanted);
    return calls;
  }
  std::string refused;
  std::set<std::uint16_t> left_out;
  std::vector<std::string> calls;
  Status status;
};

using Calls = std::vector<std::string>;

TEST_F(ExportChangesTest, WhatStaysIsNotTouched) {
  EXPECT_EQ(called({{2, "/b", "B"}, {1, "/a", "A"}}), Calls{});
  EXPECT_EQ(called({{1, "/a", "A"}, {2, "/b", "B2"}}), Calls{"set /b B2"});
  EXPECT_EQ(called({{1, "/a", "A"}, {2, "/b", "B2"}}), Calls{});
}

// The export's directory was missing when the server began.
TEST_F(ExportChangesTest, WhatTheServerHasLeftOutIsSet) {
  left_out = {2};
  refused = "B";
  EXPECT_EQ(called({{1, "/a", "A"}, {2, "/b", "B"}}), (Calls{"set /b B", "remove 2"}));
  EXPECT_FALSE(status);
  EXPECT_EQ(called({{1, "/a", "A"}}), Calls{});
  EXPECT_TRUE(status);
}

TEST_F(ExportChangesTest, RemovalsComeFirst) {
  EXPECT_EQ(called({{2, "/b", "B"}, {3, "/a", "C"}}), (Calls{"remove 1", "set /a C"}));
  EXPECT_EQ(called({{3, "/a", "C"}}), Calls{"remove 2"});
}

TEST_F(ExportChangesTest, APathIsTakenWhenItIsFree) {
  EXPECT_EQ(called({{1, "/b", "A2"}, {2, "/c", "B2"}}), (Calls{"set /c B2", "set /b A2"}));
  EXPECT_TRUE(status);
}

TEST_F(ExportChangesTest, PathsThatAreExchangedAreRefused) {
  EXPECT_EQ(called({{1, "/b", "A2"}, {2, "/a", "B2"}}), Calls{});
  EXPECT_EQ(status.error().code, ErrorCode::kConflict);
}

TEST_F(ExportChangesTest, AfterAnErrorItGoesBack) {
  refused = "A2";
  EXPECT_EQ(called({{1, "/a", "A2"}, {2, "/b", "B2"}}), Calls{"set /a A2"});
  EXPECT_EQ(status.error().message, "refused");
  // Whatever state the server has left it in, the export is set again.
  EXPECT_EQ(called({{1, "/a", "A"}, {2, "/b", "B"}}), Calls{"set /a A"});
  EXPECT_TRUE(status);
}

TEST_F(ExportChangesTest, ANewOneThatFailedIsNotLeft) {
  refused = "C";
  EXPECT_EQ(called({{1, "/a", "A"}, {2, "/b", "B"}, {3, "/c", "C"}}),
            (Calls{"set /c C", "remove 3"}));
  EXPECT_FALSE(status);
  EXPECT_EQ(called({{1, "/a", "A"}, {2, "/b", "B"}}), Calls{});
  EXPECT_TRUE(status);
}

}  // namespace
}  // namespace symnas::plugin

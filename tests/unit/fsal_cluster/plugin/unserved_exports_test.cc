#include "fsal_cluster/plugin/unserved_exports.h"

#include <gtest/gtest.h>

namespace symnas::plugin {
namespace {

TEST(UnservedExportsTest, IsEmptyWhenEachIsServedOrNotWantedAnyMore) {
  UnservedExports exports;
  EXPECT_FALSE(exports.any());
  exports.begin({1, 2, 3});
  exports.begin({1, 2});  // the list is read again
  exports.served(1);
  EXPECT_TRUE(exports.any());
  exports.wanted(1);
  exports.removed(2);
  EXPECT_FALSE(exports.any()) << "a change of what is served";
  exports.removed(1);
  exports.wanted(1);
  EXPECT_TRUE(exports.any()) << "there is another one of that number";
}

}  // namespace
}  // namespace symnas::plugin

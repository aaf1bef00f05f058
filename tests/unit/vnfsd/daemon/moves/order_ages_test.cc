#include "vnfsd/daemon/moves/order_ages.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::daemon {
namespace {

using Ages = std::map<Revision, std::int64_t>;

TEST(OrderAges, BeginWhenAnOrderIsSeenWhateverItsWriterTakesForNow) {
  ClusterView view;
  OrderAges ages;
  EXPECT_EQ(ages.look(5, view), Ages{});
  view.moves["v1"].mod_revision = Revision{7};
  view.moves["v1"].record.set_ordered_ns(1'000'000'000'000);
  EXPECT_EQ(ages.look(10, view), (Ages{{Revision{7}, 0}}));
  view.moves["v2"].mod_revision = Revision{8};
  EXPECT_EQ(ages.look(25, view), (Ages{{Revision{7}, 15}, {Revision{8}, 0}}));
}

TEST(OrderAges, BeginAnewWithAnotherOrder) {
  ClusterView view;
  OrderAges ages;
  view.moves["v1"].mod_revision = Revision{7};
  ages.look(10, view);
  view.moves["v1"].mod_revision = Revision{9};
  EXPECT_EQ(ages.look(30, view), (Ages{{Revision{9}, 0}}));
  view.moves.clear();
  EXPECT_EQ(ages.look(40, view), Ages{});
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

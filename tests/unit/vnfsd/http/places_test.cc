#include "vnfsd/http/places.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

TEST(Places, EachKeyHasItsOwn) {
  Places places(2);
  auto first = places.take("a");
  const auto second = places.take("a");
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(places.take("a"));
  EXPECT_TRUE(places.take("b"));
  first.reset();
  const auto copy = places.take("a");
  EXPECT_TRUE(copy);
  EXPECT_FALSE(places.take("a"));
}

TEST(Places, AreHeldAsLongAsAnyCopyIs) {
  Places places(1);
  auto held = places.take("a");
  auto copy = held;
  held.reset();
  EXPECT_FALSE(places.take("a"));
  copy.reset();
  EXPECT_TRUE(places.take("a"));
}

}  // namespace
}  // namespace symnas::vnfsd

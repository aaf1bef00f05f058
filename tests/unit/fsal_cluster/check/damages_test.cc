// Damages planted into the keys of a sound filesystem: each is found, with a message that names it.
#include "tests/unit/fsal_cluster/check/damages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symnas::fs::test {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::StartsWith;

// One populated filesystem serves all tests: each damage works on a copy of its keys.
const Keys& sound() {
  static const Keys* const kept = [] {
    CheckWorld world;
    world.mount();
    world.populate();
    return new Keys(world.fs, world.context(), world.dump());
  }();
  return *kept;
}

class Damages : public testing::TestWithParam<Damage> {};

TEST_P(Damages, IsFound) {
  Keys keys = sound();
  ASSERT_THAT(findings_of(keys.context, keys.kvs()), IsEmpty());
  GetParam().plant(keys);
  EXPECT_THAT(findings_of(keys.context, keys.kvs()), Contains(StartsWith(GetParam().finding)));
}

std::string test_name(const testing::TestParamInfo<Damage>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Tree, Damages, testing::ValuesIn(tree_damages()), test_name);
INSTANTIATE_TEST_SUITE_P(Record, Damages, testing::ValuesIn(record_damages()), test_name);
INSTANTIATE_TEST_SUITE_P(Map, Damages, testing::ValuesIn(map_damages()), test_name);
INSTANTIATE_TEST_SUITE_P(Holder, Damages, testing::ValuesIn(holder_damages()), test_name);

}  // namespace
}  // namespace symnas::fs::test

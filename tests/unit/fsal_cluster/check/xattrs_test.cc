// Extended attributes that do not fit are found.
#include "fsal_cluster/check/xattrs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/kv/xattr_keys.h"
#include "tests/unit/fsal_cluster/check/check_world.h"

namespace symnas::fs::test {
namespace {

namespace keys = kv::keys;
using testing::ElementsAre;
using testing::IsEmpty;

// Of CheckWorld::populate(): a file with the attributes one=1 and two=22, an empty one, a fifo.
constexpr Ino kSmall{19}, kEmpty{22}, kFifo{24}, kNobody{9999};

class XattrsCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    world.mount();
    world.populate();
    kvs = world.dump();
    ASSERT_THAT(findings(), IsEmpty());
  }
  std::vector<std::string> findings() { return findings_of(world.context(), kvs); }
  void put(Ino ino, const std::string& name, const std::string& value) {
    erase(keys::xattr(world.fs, ino, name));
    kv::KeyValue added;
    added.key = keys::xattr(world.fs, ino, name);
    added.value = value;
    const auto place =
        std::find_if(kvs.begin(), kvs.end(), [&](const auto& kv) { return kv.key > added.key; });
    kvs.insert(place, added);
  }
  void erase(const std::string& key) {
    std::erase_if(kvs, [&](const kv::KeyValue& kv) { return kv.key == key; });
  }
  void count(Ino ino, std::uint32_t number, std::uint32_t bytes) {
    for (kv::KeyValue& kv : kvs) {
      if (kv.key != keys::inode(world.fs, ino)) continue;
      records::Inode inode;
      ASSERT_TRUE(inode.ParseFromString(kv.value));
      inode.set_xattr_count(number);
      inode.set_xattr_bytes(bytes);
      kv.value = inode.SerializeAsString();
    }
  }

  CheckWorld world;
  std::vector<kv::KeyValue> kvs;
};

TEST_F(XattrsCheckTest, OneTooManyOrTooFew) {
  put(kSmall, "three", "333");
  EXPECT_THAT(findings(), ElementsAre("xattr inode 19: has 3 extended attributes of 17 bytes, its "
                                      "record counts 2 of 9"));
  erase(keys::xattr(world.fs, kSmall, "three"));
  erase(keys::xattr(world.fs, kSmall, "two"));
  EXPECT_THAT(findings(), ElementsAre("xattr inode 19: has 1 extended attributes of 4 bytes, its "
                                      "record counts 2 of 9"));
  erase(keys::xattr(world.fs, kSmall, "one"));
  EXPECT_THAT(findings(), ElementsAre("xattr inode 19: has no extended attributes, its record "
                                      "counts 2 of 9 bytes"));
}

TEST_F(XattrsCheckTest, OtherBytes) {
  put(kSmall, "one", "changed");
  EXPECT_THAT(findings(), ElementsAre("xattr inode 19: has 2 extended attributes of 15 bytes, its "
                                      "record counts 2 of 9"));
}

TEST_F(XattrsCheckTest, OfAnInodeThatDoesNotExist) {
  put(kNobody, "a", "1");
  put(kNobody, "b", "2");
  EXPECT_THAT(findings(), ElementsAre("leftover inode 9999: has 2 extended attributes, but does "
                                      "not exist"));
}

TEST_F(XattrsCheckTest, OfAFifo) {
  put(kFifo, "a", "1");
  count(kFifo, 1, 2);
  EXPECT_THAT(findings(), ElementsAre("xattr inode 24: has extended attributes, but is no file and "
                                      "no directory"));
}

TEST_F(XattrsCheckTest, AboveTheLimits) {
  put(kEmpty, "a", std::string(65'537, 'v'));
  count(kEmpty, 1, 65'538);
  EXPECT_THAT(findings(), ElementsAre("xattr inode 22: an extended attribute has a name of 1 bytes "
                                      "and a value of 65537"));
  for (int i = 0; i < 2; ++i) put(kEmpty, std::string(1, "ab"[i]), std::string(65'536, 'v'));
  count(kEmpty, 2, 131'074);
  EXPECT_THAT(findings(), ElementsAre("xattr inode 22: has 2 extended attributes of 131074 bytes, "
                                      "above the limits"));
}

TEST_F(XattrsCheckTest, AKeyWithoutName) {
  put(kSmall, "", "value");
  EXPECT_EQ(findings().size(), 1u);
  EXPECT_TRUE(findings().front().starts_with("key: no table has a key like "));
}

}  // namespace
}  // namespace symnas::fs::test

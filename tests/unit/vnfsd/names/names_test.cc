#include "vnfsd/names/names.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd {
namespace {

TEST(Names, AcceptsWhatIsSafeEverywhere) {
  for (const char* name : {"a", "LUN0", "db-01.prod_x", "9", "x."}) {
    EXPECT_TRUE(check_name("lun", name)) << name;
  }
  EXPECT_TRUE(check_name("lun", std::string(63, 'x')));
}

TEST(Names, RefusesWhatWouldNeedQuoting) {
  for (const char* name : {"", ".", "..", ".x", "-x", "_x", "a b", "a/b", "a\"b", "a\nb", "ü"}) {
    EXPECT_FALSE(check_name("lun", name)) << name;
  }
  EXPECT_FALSE(check_name("lun", std::string(64, 'x')));
}

TEST(Names, MessageNamesTheObject) {
  EXPECT_EQ(check_name("volume", "a b").error().message,
            "volume 'a b': bad name: only letters, digits and . _ - are allowed");
}

TEST(Names, HostNamesAreStricter) {
  EXPECT_TRUE(check_host_name("vnfs", "vnfs-1"));
  for (const char* name : {"a.b", "a_b", "a-", ""}) EXPECT_FALSE(check_host_name("vnfs", name));
}

TEST(Names, DeviceNamesAsTheKernelTakesThem) {
  for (const char* name : {"eth1", "bond0.12", "enp3s0f1np1"}) {
    EXPECT_TRUE(check_device_name(name)) << name;
  }
  for (const char* name : {"", ".", "..", "a/b", "a b", "a:b", "sixteencharacter"}) {
    EXPECT_FALSE(check_device_name(name)) << name;
  }
}

TEST(Names, ExportPathIsNormalised) {
  EXPECT_EQ(*normalise_export_path("/"), "/");
  EXPECT_EQ(*normalise_export_path("//a///b/"), "/a/b");
  EXPECT_EQ(*normalise_export_path("/with blank/ü"), "/with blank/ü");
}

TEST(Names, ExportPathIsRefused) {
  for (const char* path : {"", "a", "./a", "/a/../b", "/a/.", "/a\"b", "/a\\b", "/a\nb", "/a'b"}) {
    EXPECT_FALSE(normalise_export_path(path)) << path;
  }
  EXPECT_FALSE(normalise_export_path("/" + std::string(1023, 'x')));
  EXPECT_TRUE(normalise_export_path("/" + std::string(1022, 'x')));
}

}  // namespace
}  // namespace symnas::vnfsd

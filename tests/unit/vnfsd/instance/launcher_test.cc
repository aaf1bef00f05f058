#include "vnfsd/instance/launcher.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/vnfsd/instance/test_plan.h"

namespace symnas::vnfsd::instance {
namespace {

constexpr const char* kTcp6 =
    "  sl  local_address                         remote_address                        st\n"
    "   0: 00000000000000000000000000000000:0801 00000000000000000000000000000000:0000 0A 0\n"
    "   1: 00000000000000000000000000000000:4E50 00000000000000000000000000000000:0000 0A 0\n"
    "   2: 0000000000000000FFFF00006500000A:1234 0000000000000000FFFF00003200000A:006F 01 0\n";

TEST(Launcher, FindsListeners) {
  EXPECT_TRUE(listens_on(kTcp6, 2049));
  EXPECT_TRUE(listens_on(kTcp6, 20048));
  EXPECT_FALSE(listens_on(kTcp6, 0x1234));  // connected
  EXPECT_FALSE(listens_on(kTcp6, 111));     // only as a remote port
  EXPECT_FALSE(listens_on("", 2049));
  EXPECT_TRUE(listens_on("   0: 00000000:0801 00000000:0000 0A 00000000:00000000\n", 2049));
}

TEST(Launcher, SpecificationOfAPlan) {
  const LaunchSpec spec = launch_spec_for(test_plan());
  EXPECT_EQ(spec.hostname, "vnfs1");
  EXPECT_EQ(spec.argv, (std::vector<std::string>{"/usr/lib/symnas/ganesha/bin/ganesha.nfsd", "-x",
                                                 "-F", "-f", "/run/symnas/vnfs/vnfs1/ganesha.conf",
                                                 "-p", "/run/symnas/vnfs/vnfs1/ganesha.pid", "-L",
                                                 "/var/log/symnas/vnfs1.log", "-E", "17"}));
  ASSERT_EQ(spec.links.size(), 1u);
  EXPECT_EQ(spec.links[0].second, std::vector<std::string>{"10.0.0.101/24"});
  // Everything that the instance opens and that might lie below /run.
  for (const char* directory : {"/run/symnas", "/var/log/symnas", "/etc/symnas/tls", "/dev"}) {
    EXPECT_NE(std::find(spec.keep.begin(), spec.keep.end(), directory), spec.keep.end())
        << directory;
  }
}

TEST(LaunchSpec, ReadsBackEqual) {
  const LaunchSpec spec = launch_spec_for(test_plan());
  const auto again = parse_launch_spec(render_launch_spec(spec));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, spec);
  EXPECT_EQ(parse_launch_spec("{}").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(parse_launch_spec("x").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace symnas::vnfsd::instance

#include "vnfsd/instance/launcher.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/vnfsd/instance/test_plan.h"

namespace symnas::vnfsd::instance {
namespace {

TEST(Launcher, SpecificationOfAPlan) {
  const LaunchSpec spec = launch_spec_for(test_plan());
  EXPECT_EQ(spec.hostname, "vnfs1");
  EXPECT_EQ(spec.argv, (std::vector<std::string>{"/usr/lib/symnas/ganesha/bin/ganesha.nfsd", "-x",
                                                 "-F", "-f", "/run/symnas/vnfs/vnfs1/ganesha.conf",
                                                 "-p", "/run/symnas/vnfs/vnfs1/ganesha.pid", "-L",
                                                 "/var/log/symnas/vnfs1.log", "-E", "2959753069"}));
  EXPECT_EQ(spec.links, std::vector<std::string>{"nfs0"});
  EXPECT_FALSE(spec.ipv6);
  // Everything that the instance opens and that might lie below /run.
  for (const char* directory : {"/run/symnas", "/var/log/symnas", "/etc/symnas/tls", "/dev"}) {
    EXPECT_NE(std::find(spec.keep.begin(), spec.keep.end(), directory), spec.keep.end())
        << directory;
  }
}

TEST(LaunchSpec, ReadsBackEqual) {
  InstancePlan plan = test_plan();
  plan.links[0].vips.push_back(*Cidr::parse("fd00::101/64"));
  const LaunchSpec spec = launch_spec_for(plan);
  EXPECT_TRUE(spec.ipv6);
  const auto again = parse_launch_spec(render_launch_spec(spec));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, spec);
  EXPECT_EQ(parse_launch_spec("{}").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(parse_launch_spec("x").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace symnas::vnfsd::instance

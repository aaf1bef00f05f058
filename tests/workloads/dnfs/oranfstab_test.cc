// The oranfstab: Oracle's own examples are read, and what is wrong is told with its line.
#include "tests/workloads/dnfs/oranfstab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symnas::dnfs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kTwoServers = R"(# paths of two servers
server: MyDataServer1
local: 192.0.2.0
path: 192.0.2.1
local: 192.0.100.0
path: 192.0.100.1
nfs_version: nfsv3
dontroute
export: /vol/oradata1 mount: /mnt/oradata1

server: MyDataServer2
path: NfsPath1
path: fd00::7
nfs_version: NFSv4
mnt_timeout: 30
security_default: sys
export: /vol/oradata2 mount: /mnt/oradata2
export: /vol/oradata3 mount: /mnt/oradata3
management: MgmtPath1
)";

std::string problem(std::string_view text) {
  const auto parsed = parse_oranfstab(text, "tab");
  return parsed ? "accepted" : parsed.error().message;
}

TEST(OranfstabTest, ReadsServersPathsAndExports) {
  const auto parsed = parse_oranfstab(kTwoServers, "tab");
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 2u);
  const OraServer& one = parsed->at(0);
  EXPECT_EQ(one.name, "MyDataServer1");
  ASSERT_EQ(one.paths.size(), 2u);
  EXPECT_EQ(one.paths[1].local, "192.0.100.0");
  EXPECT_EQ(one.paths[1].remote, "192.0.100.1");
  EXPECT_EQ(one.paths[1].line, 6);
  EXPECT_EQ(one.paths[1].local_line, 5);
  EXPECT_TRUE(one.dontroute);
  EXPECT_EQ(one.mnt_timeout_s, 600);
  EXPECT_EQ(one.exports.at(0).mount, "/mnt/oradata1");
  const OraServer& two = parsed->at(1);
  EXPECT_EQ(two.nfs_version, "nfsv4");
  EXPECT_EQ(two.paths[0].local, "");
  EXPECT_EQ(two.paths[1].remote, "fd00::7");
  EXPECT_EQ(two.mnt_timeout_s, 30);
  EXPECT_FALSE(two.dontroute);
  EXPECT_EQ(two.exports.size(), 2u);
}

TEST(OranfstabTest, ValuesMayStandWithoutABlank) {
  const auto parsed = parse_oranfstab("server:a\npath:fd00::1\nexport:/v mount:/m\r\n", "tab");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->at(0).paths[0].remote, "fd00::1");
  EXPECT_EQ(parsed->at(0).exports[0].mount, "/m");
}

TEST(OranfstabTest, SaysWhichLineIsWrongAndWhatToDo) {
  const std::string_view kEnd = "export: /v mount: /m\n";
  const auto with = [&](std::string_view lines) {
    return problem("server: a\n" + std::string(lines) + std::string(kEnd));
  };
  EXPECT_THAT(problem(""), AllOf(HasSubstr("tab line 1"), HasSubstr("server: NAME")));
  EXPECT_THAT(problem("path: 10.0.0.1\n"), HasSubstr("tab line 1: path before any server"));
  EXPECT_THAT(problem("server:\n"), HasSubstr("line 1: server has no value"));
  EXPECT_THAT(with("pth: 10.0.0.1\n"), HasSubstr("line 2: unknown attribute \"pth\""));
  EXPECT_THAT(with("path 10.0.0.1\n"), HasSubstr("line 2: \"path\" is no attribute"));
  EXPECT_THAT(with("path: 1\npath: 2\npath: 3\npath: 4\npath: 5\n"),
              HasSubstr("line 6: server a has more than 4 paths"));
  EXPECT_THAT(with("path: 1\npath: 1\n"), HasSubstr("line 3: path 1 again, it is in line 2"));
  EXPECT_THAT(with("local: 1\nlocal: 2\n"), HasSubstr("line 3: local 2 after local 1"));
  EXPECT_THAT(with("path: 1\nlocal: 2\n"), HasSubstr("line 3: local 2 has no path after it"));
  EXPECT_THAT(with("path: 1\nnfs_version: nfsv2\n"), HasSubstr("line 3: nfs_version nfsv2"));
  EXPECT_THAT(with("path: 1\nmnt_timeout: soon\n"), HasSubstr("line 3: mnt_timeout soon"));
  EXPECT_THAT(with("path: 1\nmnt_timeout: 0\n"), HasSubstr("line 3: mnt_timeout 0"));
  EXPECT_THAT(with("path: 1\nsecurity_default: krb5\n"),
              HasSubstr("line 3: security_default krb5"));
  EXPECT_THAT(with("path: 1\nexport: v\n"), HasSubstr("line 3: export v is no absolute path"));
  EXPECT_THAT(with("path: 1\nmount: /x\n"), HasSubstr("line 3: mount /x without an export"));
  EXPECT_THAT(problem("server: a\npath: 1\n"), HasSubstr("line 1: server a has no export"));
  EXPECT_THAT(problem("server: a\nexport: /v mount: /m\n"),
              HasSubstr("line 1: server a has no path"));
  EXPECT_THAT(with("path: 1\nexport: /w mount: /m\n"),
              HasSubstr("line 4: mount /m again, it is in line 3"));
  EXPECT_THAT(with("path: 1\n"), HasSubstr("accepted"));
  EXPECT_THAT(problem("server: a\npath: 1\nexport: /v mount: /m\nserver: a\n"),
              HasSubstr("line 4: server a again, it is in line 1"));
}

TEST(OranfstabTest, FindsAFileByExportOrMountTheLongestFirst) {
  const auto parsed = parse_oranfstab(
      "server: a\npath: 1\nexport: /v mount: /m\nexport: /v/deep mount: /n\n", "tab");
  ASSERT_TRUE(parsed);
  const auto deep = find_file(*parsed, "/v/deep/f");
  ASSERT_TRUE(deep);
  EXPECT_EQ(deep->exported, 1u);
  EXPECT_EQ(deep->path, "/f");
  const auto mounted = find_file(*parsed, "/m/dir/f");
  ASSERT_TRUE(mounted);
  EXPECT_EQ(mounted->exported, 0u);
  EXPECT_EQ(mounted->path, "/dir/f");
  for (const char* none : {"/vv/f", "/v", "/v/", "f"}) {
    const auto found = find_file(*parsed, none);
    ASSERT_FALSE(found) << none;
    EXPECT_THAT(found.error().message, HasSubstr("/v, /v/deep"));
  }
}

}  // namespace
}  // namespace symnas::dnfs

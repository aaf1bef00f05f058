#include "vnfsd/instance/instance_file.h"

#include <gtest/gtest.h>

#include "tests/unit/vnfsd/instance/test_plan.h"

namespace symnas::vnfsd::instance {
namespace {

TEST(InstanceFile, Golden) {
  EXPECT_EQ(*render_instance_file(test_plan()), R"({
  "head": "c1n1",
  "vnfs": "vnfs1",
  "vnfs_id": 3,
  "epoch": 17,
  "incarnation": "boot-id",
  "owner_key": "c/owner/vnfs1",
  "owner_mod_revision": 123,
  "standby": false,
  "etcd": {
    "endpoints": [
      "https://10.99.0.1:2379"
    ],
    "ca": "/etc/symnas/tls/ca.crt",
    "cert": "/etc/symnas/tls/head.crt",
    "key": "/etc/symnas/tls/head.key",
    "quota_bytes": 8589934592
  },
  "head_netns": "/proc/self/fd/9",
  "head_mntns": "/proc/self/fd/10",
  "clock_file": "/run/symnas/clock",
  "luns": [
    {
      "name": "LUN0",
      "uuid": "00112233-4455-6677-8899-aabbccddeeff",
      "path": "/dev/sda"
    }
  ],
  "exports": [
    {
      "id": 5,
      "pseudo": "/u04",
      "block": "\nEXPORT {\n  Export_Id = 5;\n  Path = \"/u04\";\n  Pseudo = \"/u04\";\n  Tag = \"u04\";\n  Protocols = 3, 4;\n  Transports = TCP;\n  SecType = sys;\n  Access_Type = None;\n  Squash = Root_Squash;\n  Attr_Expiration_Time = 0;\n  MaxRead = 1048576;\n  MaxWrite = 1048576;\n  PrefRead = 1048576;\n  PrefWrite = 1048576;\n  FSAL {\n    Name = CLUSTER;\n    Filesystem = \"u04\";\n    Subtree = \"/data\";\n  }\n  CLIENT {\n    Clients = 10.9.0.7/32, 10.0.0.0/24;\n    Access_Type = RW;\n    Squash = Root_Id_Squash;\n    Anonymous_Uid = 65534;\n    Anonymous_Gid = 65534;\n  }\n}\n",
      "names": [],
      "manage_gids": false
    }
  ]
}
)");
}

TEST(InstanceFile, SaysWhereTheKeytabIsAndNeverAKey) {
  InstancePlan plan = test_plan();
  plan.keytab.emplace().set_box("sealed");
  plan.keytab->add_keys()->set_principal("nfs/vnfs1.x.org@X.ORG");
  const auto text = render_instance_file(plan);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find(R"(  "kerberos": {
    "keytab": "/run/symnas/vnfs/vnfs1/krb5.keytab",
    "realm": "X.ORG",
    "domain": "x.org"
  })"),
            std::string::npos);
  EXPECT_EQ(text->find("sealed"), std::string::npos);
}

TEST(InstanceFile, IsNotWrittenWithAnExportThatCannotBe) {
  InstancePlan plan = test_plan();
  plan.exports[0].set_pseudo("/x\"; Squash = None; #");
  EXPECT_EQ(render_instance_file(plan).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace symnas::vnfsd::instance

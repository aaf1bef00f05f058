#include "vnfsd/instance/instance_file.h"

#include <gtest/gtest.h>

#include "tests/unit/vnfsd/instance/test_plan.h"

namespace symnas::vnfsd::instance {
namespace {

TEST(InstanceFile, Golden) {
  EXPECT_EQ(render_instance_file(test_plan()), R"({
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
  "luns": [
    {
      "name": "LUN0",
      "uuid": "00112233-4455-6677-8899-aabbccddeeff",
      "path": "/dev/sda"
    }
  ]
}
)");
}

}  // namespace
}  // namespace symnas::vnfsd::instance

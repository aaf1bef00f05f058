#include "vnfsd/instance/state_file.h"

#include <gtest/gtest.h>

namespace symnas::vnfsd::instance {
namespace {

TEST(StateFile, Golden) {
  const InstanceState state{{4711, 99},    Epoch(17), "boot-id",
                            Revision(123), 5,         {{"uuid-1", 2049, 77}},
                            true,          {"a b"},   true};
  EXPECT_EQ(render_state(state), R"({
  "pid": 4711,
  "start_ticks": 99,
  "epoch": 17,
  "incarnation": "boot-id",
  "owner_mod_revision": 123,
  "started_ns": 5,
  "retiring": true,
  "connections": [
    "a b"
  ],
  "standby": true,
  "luns": [
    {
      "uuid": "uuid-1",
      "device": 2049,
      "inode": 77
    }
  ]
}
)");
  EXPECT_EQ(*parse_state(render_state(state)), state);
}

TEST(StateFile, DamagedIsCorrupt) {
  for (const char* text : {"", "{}", "{\"pid\": \"x\"}", "[]"}) {
    EXPECT_EQ(parse_state(text).error().code, ErrorCode::kCorrupt) << text;
  }
}

}  // namespace
}  // namespace symnas::vnfsd::instance

#include "fsal_cluster/plugin/send_queues.h"

#include <gtest/gtest.h>

namespace symnas::plugin {
namespace {

TEST(SendQueuesTest, AddsUpWhatIsUnacknowledgedOnThePort) {
  EXPECT_EQ(unacknowledged_bytes("", 2049), 0u);
  EXPECT_EQ(
      unacknowledged_bytes("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n"
                           "   0: 00000000:0801 00000000:0000 0A 00000007:00000000 00:00000000\n"
                           "   1: 6500000A:0801 C900000A:03E9 01 00000010:00000005 00:00000000\n"
                           "   2: 6500000A:0801 C900000A:03EA 04 00000001:00000000 00:00000000\n"
                           "   3: 6500000A:4E50 C900000A:03EB 01 00000100:00000000 00:00000000\n"
                           "   4: 6500000A:0801\n",
                           2049),
      0x11u);
}

}  // namespace
}  // namespace symnas::plugin

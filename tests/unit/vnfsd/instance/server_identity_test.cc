#include "vnfsd/instance/server_identity.h"

#include <cstdint>
#include <set>

#include <gtest/gtest.h>

namespace symnas::vnfsd::instance {
namespace {

const Uuid kOne = *Uuid::parse("00112233-4455-4677-8899-aabbccddeeff");
const Uuid kTwo = *Uuid::parse("10112233-4455-4677-8899-aabbccddeeff");

records::VnfsRecord record(bool names_cluster) {
  records::VnfsRecord made;
  made.set_name("vnfs1");
  made.set_scope_names_cluster(names_cluster);
  return made;
}

TEST(ServerIdentity, OwnersOfTwoClustersDiffer) {
  EXPECT_EQ(server_owner(kOne, "vnfs1"), "vnfs1.00112233-4455-4677-8899-aabbccddeeff");
  EXPECT_NE(server_owner(kOne, "vnfs1"), server_owner(kTwo, "vnfs1"));
  EXPECT_NE(server_owner(kOne, "vnfs1"), server_owner(kOne, "vnfs2"));
}

TEST(ServerIdentity, ScopeStaysWhatClientsWereTold) {
  EXPECT_EQ(server_scope(kOne, record(false)), "vnfs1");
  EXPECT_EQ(server_scope(kOne, record(true)), server_owner(kOne, "vnfs1"));
}

TEST(ServerIdentity, IdsRepeatNeitherWithinAClusterNorBetweenTwo) {
  std::set<std::uint32_t> ids;
  for (std::uint64_t epoch = 1; epoch <= 1000; ++epoch) {
    EXPECT_TRUE(ids.insert(server_id(kOne, Epoch(epoch))).second);
    EXPECT_TRUE(ids.insert(server_id(kTwo, Epoch(epoch))).second);
    EXPECT_TRUE(ids.insert(static_cast<std::uint32_t>(epoch)).second) << "that of earlier versions";
  }
}

// Standbys, and tools that read it, compute the same on every head.
TEST(ServerIdentity, IdOfAnEpochIsFixed) { EXPECT_EQ(server_id(kOne, Epoch(17)), 0xb06a3f6d); }

}  // namespace
}  // namespace symnas::vnfsd::instance

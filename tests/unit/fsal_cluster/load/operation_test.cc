#include "fsal_cluster/load/operation.h"

#include <gtest/gtest.h>

namespace symnas::fs {
namespace {

constexpr std::uint32_t kNfsProgram = 100003;

std::string text(std::uint32_t program, std::uint32_t version, std::uint32_t number) {
  const auto operation = nfs_operation(program, version, number);
  return operation ? text_of(*operation) : "-";
}

TEST(Operation, NamesFollowTheRfcs) {
  EXPECT_EQ(text(kNfsProgram, 3, 1), "nfs3.GETATTR");
  EXPECT_EQ(text(kNfsProgram, 3, 6), "nfs3.READ");
  EXPECT_EQ(text(kNfsProgram, 3, 7), "nfs3.WRITE");
  EXPECT_EQ(text(kNfsProgram, 3, 21), "nfs3.COMMIT");
  EXPECT_EQ(text(kNfsProgram, 4, 3), "nfs4.ACCESS");
  EXPECT_EQ(text(kNfsProgram, 4, 18), "nfs4.OPEN");
  EXPECT_EQ(text(kNfsProgram, 4, 25), "nfs4.READ");
  EXPECT_EQ(text(kNfsProgram, 4, 38), "nfs4.WRITE");
  EXPECT_EQ(text(kNfsProgram, 4, 42), "nfs4.EXCHANGE_ID");
  EXPECT_EQ(text(kNfsProgram, 4, 58), "nfs4.RECLAIM_COMPLETE");
  EXPECT_EQ(text(kNfsProgram, 4, 59), "nfs4.ALLOCATE");
  EXPECT_EQ(text(kNfsProgram, 4, 68), "nfs4.READ_PLUS");
  EXPECT_EQ(text(kNfsProgram, 4, 75), "nfs4.REMOVEXATTR");
  EXPECT_EQ(text(100021, 4, 2), "nlm4.LOCK");
  EXPECT_EQ(text(100021, 4, 20), "nlm4.SHARE");
  EXPECT_EQ(text(100227, 3, 1), "nfsacl3.GETACL");
}

TEST(Operation, WhatDoesNoWorkIsNotCounted) {
  EXPECT_EQ(text(kNfsProgram, 3, 0), "-");
  EXPECT_EQ(text(kNfsProgram, 3, 22), "-");
  EXPECT_EQ(text(kNfsProgram, 4, 76), "-");
  EXPECT_EQ(text(kNfsProgram, 4, 22), "-");  // PUTFH
  EXPECT_EQ(text(kNfsProgram, 4, 53), "-");  // SEQUENCE
  EXPECT_EQ(text(kNfsProgram, 2, 6), "-");
  EXPECT_EQ(text(100005, 3, 1), "-");  // MOUNT
  EXPECT_EQ(text(100021, 4, 16), "-");
}

TEST(Operation, EachTextIsReadAgain) {
  for (const auto& [program, version] : {std::pair(kNfsProgram, 3u), std::pair(kNfsProgram, 4u),
                                         std::pair(100021u, 4u), std::pair(100227u, 3u)}) {
    for (std::uint32_t number = 0; number < 100; ++number) {
      const auto operation = nfs_operation(program, version, number);
      if (!operation) continue;
      EXPECT_EQ(operation_from(text_of(*operation)), operation);
    }
  }
  for (const char* wrong : {"", ".", "nfs3", "nfs3.", "nfs3.OPEN", "nfs5.READ", "READ"})
    EXPECT_FALSE(operation_from(wrong)) << wrong;
}

}  // namespace
}  // namespace symnas::fs

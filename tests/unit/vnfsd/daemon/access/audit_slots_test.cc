#include "vnfsd/daemon/access/audit_slots.h"

#include <gtest/gtest.h>

#include "vnfsd/daemon/access/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

class AuditSlotsTest : public ::testing::Test {
 protected:
  // The slot that it was written to.
  std::uint64_t write(const std::string& who, const std::string& outcome) {
    records::AuditRecord entry;
    entry.set_who(who);
    entry.set_outcome(outcome);
    entry.set_sequence(slots.next_sequence());
    const std::uint64_t slot = slots.slot_for(entry);
    slots.put(slot, entry);
    return slot;
  }
  AuditSlots slots;
};

TEST_F(AuditSlotsTest, TheOldestIsWrittenOver) {
  for (std::uint64_t i = 0; i < kAuditPerHead; ++i) EXPECT_EQ(write("root", "done"), i);
  EXPECT_EQ(write("root", "done"), 0u);
  EXPECT_EQ(write("ops", "permission"), 1u);
  EXPECT_EQ(slots.next_sequence(), kAuditPerHead + 3);
}

TEST_F(AuditSlotsTest, WhatChangedNothingHasAShare) {
  EXPECT_EQ(write("root", "done"), 0u);
  for (std::uint64_t i = 0; i < kAuditNothingPerWho; ++i)
    EXPECT_EQ(write("ops", i % 2 == 0 ? "permission" : "dry-run"), 1 + i);
  EXPECT_EQ(write("ops", "conflict"), 1u) << "its own oldest";
  EXPECT_EQ(write("ops", "permission"), 2u);
  EXPECT_EQ(write("other", "permission"), 1 + kAuditNothingPerWho) << "it has a share of its own";
  EXPECT_EQ(write("ops", "done"), 2 + kAuditNothingPerWho) << "what it did is not bounded";
}

TEST_F(AuditSlotsTest, OldRefusalsGoAsOthersDo) {
  for (std::uint64_t i = 0; i < kAuditNothingPerWho; ++i) write("ops", "permission");
  for (std::uint64_t i = 0; i < kAuditPerHead; ++i) write("root", "done");
  // None of its refusals is left: it has room for new ones.
  EXPECT_EQ(write("ops", "permission"), kAuditNothingPerWho);
  EXPECT_EQ(write("ops", "permission"), kAuditNothingPerWho + 1);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

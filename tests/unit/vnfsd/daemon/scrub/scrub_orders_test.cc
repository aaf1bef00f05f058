#include "vnfsd/daemon/scrub/scrub_orders.h"

#include <gtest/gtest.h>

#include "common/kv/mem/mem_store.h"
#include "common/kv/scrub_keys.h"
#include "cvm/limits.h"
#include "vnfsd/daemon/scrub/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

using records::ScrubRecord;

class ScrubOrdersTest : public ::testing::Test {
 protected:
  Result<std::string> begin(bool all = false, bool anew = false) {
    return begin_scrub(store, env::system_clock(),
                       {.lun = "LUN0",
                        .uuid = uuid,
                        .end_byte = 1 << 30,
                        .bytes_per_second = 0,
                        .all = all,
                        .anew = anew});
  }
  ScrubRecord record() {
    const auto all = list_scrubs(store);
    return all && !all->empty() ? all->front().record : ScrubRecord();
  }
  void read_to(std::uint64_t byte) {
    ScrubRecord changed = record();
    changed.set_at_byte(byte);
    changed.set_head("c1n1");
    kv::Txn txn;
    txn.success = {kv::put(kv::keys::kScrubs + "LUN0", changed.SerializeAsString())};
    ASSERT_TRUE(kv::txn_blocking(store, std::move(txn), 1000).has_value());
  }
  std::string uuid = "first";
  kv::MemStore store{kv::MemStoreOptions{}};
};

TEST_F(ScrubOrdersTest, ALunOfTheSameNameBeginsAnew) {
  ASSERT_TRUE(begin().has_value());
  read_to(5 << 20);
  uuid = "second";
  ASSERT_TRUE(begin().has_value());
  EXPECT_EQ(record().at_byte(), cvm::kReservedBytes);
  EXPECT_EQ(record().lun_uuid(), "second");
}

TEST_F(ScrubOrdersTest, OneThatIsGivenUpIsTakenByWhoIsFirst) {
  ASSERT_TRUE(begin().has_value());
  read_to(5 << 20);
  const auto entries = list_scrubs(store);
  ASSERT_TRUE(entries.has_value());
  const auto given = give_up_scrub(store, entries->front());
  ASSERT_TRUE(given.has_value());
  EXPECT_TRUE(*given);
  EXPECT_EQ(record().state(), ScrubRecord::RUNNING);
  EXPECT_EQ(record().head(), "");
  EXPECT_EQ(record().at_byte(), 5U << 20);
  // Stopped meanwhile: that stays.
  const auto again = list_scrubs(store);
  ASSERT_TRUE(stop_scrub(store, "LUN0").has_value());
  const auto late = give_up_scrub(store, again->front());
  ASSERT_TRUE(late.has_value());
  EXPECT_FALSE(*late);
  EXPECT_EQ(record().state(), ScrubRecord::STOPPED);
}

TEST_F(ScrubOrdersTest, OneThatIsStoppedGoesOn) {
  ASSERT_TRUE(begin().has_value());
  EXPECT_EQ(record().state(), ScrubRecord::RUNNING);
  EXPECT_EQ(record().at_byte(), cvm::kReservedBytes);
  EXPECT_EQ(record().bytes_per_second(), kScrubBytesPerSecond);
  read_to(5 << 20);
  EXPECT_EQ(begin().error().code, ErrorCode::kBusy);
  ASSERT_TRUE(stop_scrub(store, "LUN0").has_value());
  EXPECT_EQ(record().state(), ScrubRecord::STOPPED);
  ASSERT_TRUE(begin().has_value());
  EXPECT_EQ(record().at_byte(), 5U << 20);
  EXPECT_EQ(record().head(), "");  // whoever is first
}

TEST_F(ScrubOrdersTest, AnotherOneBeginsAnew) {
  ASSERT_TRUE(begin().has_value());
  read_to(5 << 20);
  ASSERT_TRUE(stop_scrub(store, "LUN0").has_value());
  ASSERT_TRUE(begin(true).has_value());  // it has not read what no file has
  EXPECT_EQ(record().at_byte(), cvm::kReservedBytes);
  read_to(5 << 20);
  ASSERT_TRUE(stop_scrub(store, "LUN0").has_value());
  ASSERT_TRUE(begin(true, true).has_value());
  EXPECT_EQ(record().at_byte(), cvm::kReservedBytes);
}

TEST_F(ScrubOrdersTest, NoneRuns) {
  EXPECT_EQ(stop_scrub(store, "LUN0").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

#include "vnfsd/api/locks.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fsal_cluster/state/nlm_client.h"

namespace symnas::vnfsd::api {
namespace {

using nlohmann::json;

fs::LockEntry nlm_lock() {
  fs::LockEntry lock;
  lock.ino = Ino{17};
  lock.vnfs = "v1";
  lock.owner = {fs::LockProtocol::kNlm, fs::identity_of({"10.0.0.7", "10.0.0.101", "db1"}),
                std::string("\0\0\0\5", 4) + "5@db1"};
  lock.lock.ranges = {{10, 19, fs::LockMode::kExclusive}, {30, UINT64_MAX, fs::LockMode::kShared}};
  lock.lock.since_ns = 5'000'000'000;
  return lock;
}

fs::LockEntry nfs4_lock() {
  fs::LockEntry lock = nlm_lock();
  lock.owner = {fs::LockProtocol::kNfs4, "Linux NFSv4.1 db1", std::string("\0\1", 2)};
  lock.lock.since_ns = 0;
  return lock;
}

TEST(LocksTest, DocumentOfAnNlmLock) {
  EXPECT_EQ(lock_document("u04", "/f", nlm_lock(), 65'900'000'000),
            (json{{"filesystem", "u04"},
                  {"path", "/f"},
                  {"ino", 17},
                  {"vnfs", "v1"},
                  {"protocol", "nlm"},
                  {"client", "db1"},
                  {"address", "10.0.0.7"},
                  {"vip", "10.0.0.101"},
                  {"owner", "5/5@db1"},
                  {"ranges",
                   {{{"start", 10}, {"length", 10}, {"type", "write"}},
                    {{"start", 30}, {"type", "read"}}}},
                  {"revocable", "no"},
                  {"since_ns", 5'000'000'000},
                  {"age_s", 60}}));
}

TEST(LocksTest, DocumentOfAnNfs4Lock) {
  const json document = lock_document("u04", "", nfs4_lock(), 1);
  EXPECT_EQ(document["client"], "Linux NFSv4.1 db1");
  EXPECT_EQ(document["owner"], "0x0001");
  EXPECT_EQ(document["revocable"], "if_away");
  for (const char* absent : {"path", "address", "since_ns", "age_s"})
    EXPECT_FALSE(document.contains(absent)) << absent;
  fs::LockEntry recent = nfs4_lock();
  recent.is_older_than_mount = false;
  EXPECT_EQ(lock_document("u04", "", recent, 1)["revocable"], "no");
}

TEST(LocksTest, ClientsAreNamedAsTheyAreShown) {
  const auto of_client = [](const std::string& client, const fs::LockEntry& lock) {
    LockFilter filter;
    filter.client = client;
    return matches(filter, lock);
  };
  EXPECT_TRUE(of_client("10.0.0.7", nlm_lock()));
  EXPECT_TRUE(of_client("db1", nlm_lock()));
  EXPECT_FALSE(of_client("10.0.0.101", nlm_lock()));
  EXPECT_FALSE(of_client("10.0.0.70", nlm_lock()));
  EXPECT_TRUE(of_client("Linux NFSv4.1 db1", nfs4_lock()));
  EXPECT_FALSE(of_client("db1", nfs4_lock()));
}

TEST(LocksTest, FiltersNarrowTogether) {
  LockFilter filter;
  EXPECT_TRUE(matches(filter, nlm_lock()));
  filter.vnfs = "v1";
  filter.ino = Ino{17};
  EXPECT_TRUE(matches(filter, nlm_lock()));
  filter.ino = Ino{18};
  EXPECT_FALSE(matches(filter, nlm_lock()));
}

TEST(LocksTest, QueriesAreStrict) {
  const auto filter = lock_filter({{"filesystem", "u04"}, {"ino", "17"}, {"client", "db1"}});
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->ino, Ino{17});
  EXPECT_TRUE(filter->narrows());
  EXPECT_FALSE(lock_filter({})->narrows());
  using Query = std::map<std::string, std::string>;
  for (const Query& wrong :
       {Query{{"clinet", "db1"}}, Query{{"vnfs", ""}}, Query{{"ino", "17"}}, Query{{"path", "/f"}},
        Query{{"filesystem", "u04"}, {"ino", "0"}}, Query{{"filesystem", "u04"}, {"ino", "1x"}},
        Query{{"filesystem", "u04"}, {"ino", "17"}, {"path", "/f"}}}) {
    const auto refused = lock_filter(wrong);
    ASSERT_FALSE(refused) << wrong.begin()->first;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace symnas::vnfsd::api

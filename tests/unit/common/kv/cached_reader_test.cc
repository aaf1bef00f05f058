// Reads beside own batches that are under way, in simulated time. The watch is late throughout.
#include "common/kv/cached_reader.h"

#include <gtest/gtest.h>

#include "session_world.h"

namespace symnas::kv {
namespace {

class CachedReaderTest : public ::testing::Test {
 protected:
  using Values = Result<std::vector<CachedValue>>;

  CachedReaderTest() {
    const auto made = world_.commit(*session_, put_mutation(old_name_, "file"));
    EXPECT_TRUE(made && made->succeeded);
  }

  // Renames; executed, but the answer is held back.
  void begin_rename() {
    store_.hold(is_batch);
    Mutation rename;
    rename.writes = {erase(old_name_), put(new_name_, "file")};
    rename.merged_puts = {put(times_, "later")};
    session_->core().committer().commit(
        rename, [this](Result<Committed> r) { renamed_ = r && r->succeeded; });
    world_.run_until([&] { return store_.held() == 1; });
  }
  // Beside the RENAME, whose answer goes on to be held back.
  void answer_a_later_create_first() {
    begin_rename();
    Mutation other = put_mutation(data_key("Dother"), "file");
    other.merged_puts = {put(times_, "latest")};
    session_->core().committer().commit(other, [](const auto&) {});
    world_.run_until([&] { return store_.held() == 2; });
    store_.release_last();
  }
  void begin_read(const std::string& key) {
    reader().read({key}, [this](Values values) { read_ = std::move(values); });
    world_.run_ms(50);
  }
  CachedReader& reader() { return session_->core().reader(); }

  SessionWorld world_;
  const std::shared_ptr<FaultPlan> late_ = std::make_shared<SlowWatch>(5'000 * kNsPerMs);
  const std::unique_ptr<MemStore> below_ = world_.new_store(late_);
  HoldingStore store_{*below_};
  const std::unique_ptr<SimSession> session_ =
      world_.new_session(world_.new_mount(), nullptr, &store_);
  const std::string old_name_ = data_key("Dold");
  const std::string new_name_ = data_key("Dnew");
  const std::string times_ = data_key("Tdir");
  bool renamed_ = false;
  std::optional<Values> read_;
};

// The new name was loaded while the old one still stood in the cache: looked up one after the
// other, both were there, or none.
TEST_F(CachedReaderTest, ALoadShowsNothingOfAnOwnBatchBeforeTheCacheDoes) {
  begin_rename();
  begin_read(new_name_);
  EXPECT_FALSE(read_) << "the answer shows what the cache does not";
  EXPECT_FALSE(reader().peek(new_name_)) << "others find it no sooner";
  EXPECT_EQ(reader().peek(old_name_)->value, "file");
  store_.release();
  ASSERT_TRUE(read_ && *read_);
  EXPECT_TRUE(renamed_);
  EXPECT_EQ((**read_)[0].value, "file");
  EXPECT_FALSE(reader().peek(old_name_)->value);
}

TEST_F(CachedReaderTest, NeitherDoesARangeNorAMergedPut) {
  begin_rename();
  std::optional<Result<OpResult>> listed;
  reader().range(prefix_range(data_key("D")), 0, [&](auto found) { listed = std::move(found); });
  begin_read(times_);
  EXPECT_FALSE(listed);
  EXPECT_FALSE(read_);
  store_.release();
  ASSERT_TRUE(listed && *listed);
  ASSERT_EQ((*listed)->kvs.size(), 1U);
  EXPECT_EQ((*listed)->kvs[0].key, new_name_);
  ASSERT_TRUE(read_ && *read_);
  EXPECT_EQ((**read_)[0].value, "later");
}

TEST_F(CachedReaderTest, OtherKeysDoNotWait) {
  begin_rename();
  begin_read(data_key("Dother"));
  ASSERT_TRUE(read_ && *read_);
  EXPECT_FALSE((**read_)[0].value);
  store_.release();
}

// Batches launched later are not waited for: a key that is written all the time can be read.
TEST_F(CachedReaderTest, WaitsForWhatWasUnderWayOnly) {
  begin_rename();
  begin_read(times_);
  Mutation other = put_mutation(data_key("Dother"), "file");
  other.merged_puts = {put(times_, "latest")};
  bool second = false;
  session_->core().committer().commit(other, [&](Result<Committed> r) { second = r.has_value(); });
  world_.run_until([&] { return store_.held() == 2; });
  store_.release_first();
  EXPECT_TRUE(read_ && *read_);
  EXPECT_FALSE(second);
  store_.release();
  EXPECT_TRUE(second);
}

// The answer of a batch may be lost: what the watch has applied is in the cache.
TEST_F(CachedReaderTest, TheWatchMayComeFirst) {
  begin_rename();
  begin_read(new_name_);
  EXPECT_FALSE(read_);
  world_.run_until([&] { return read_.has_value(); });
  EXPECT_EQ(store_.held(), 1U);
  ASSERT_TRUE(read_ && *read_);
  EXPECT_EQ((**read_)[0].value, "file");
  EXPECT_FALSE(reader().peek(old_name_)->value);
  store_.release();
}

TEST_F(CachedReaderTest, ABatchThatIsLostAndRepeatedEndsTheWait) {
  begin_rename();
  begin_read(new_name_);
  store_.drop();
  world_.run_until([&] { return read_.has_value(); });
  ASSERT_TRUE(read_ && *read_);
  EXPECT_EQ((**read_)[0].value, "file");
  EXPECT_TRUE(renamed_);
}

TEST_F(CachedReaderTest, TheEndOfTheSessionEndsTheWait) {
  begin_rename();
  begin_read(new_name_);
  session_->core().shut_down();
  ASSERT_TRUE(read_);
  EXPECT_EQ(read_->error().code, ErrorCode::kShutdown);
  store_.release();
}

// CREATE y is executed, then CREATE x, which is answered first: the directory shows x's change
// attribute, which stays. Who then looks for y waits for it.
TEST_F(CachedReaderTest, ANameOfAnEarlierBatchIsAwaited) {
  answer_a_later_create_first();
  ASSERT_EQ(reader().peek(times_)->value, "latest");
  ASSERT_EQ(reader().peek(old_name_)->value, "file") << "what a look at the cache alone shows";
  std::optional<Status> landed;
  reader().await_own({old_name_}, [&](Status status) { landed = std::move(status); });
  EXPECT_FALSE(landed);
  store_.release();
  ASSERT_TRUE(landed && *landed);
  EXPECT_FALSE(reader().peek(old_name_)->value);
  EXPECT_EQ(reader().peek(times_)->value, "latest");
}

// The reply to the earlier one is lost: the watch has told of it when it has come as far.
TEST_F(CachedReaderTest, TheWatchEndsTheWaitForANameToo) {
  answer_a_later_create_first();
  std::optional<Status> landed;
  reader().await_own({old_name_}, [&](Status status) { landed = std::move(status); });
  EXPECT_FALSE(landed);
  ASSERT_TRUE(world_.run_until([&] { return landed.has_value(); }));
  EXPECT_EQ(store_.held(), 1U);
  EXPECT_FALSE(reader().peek(old_name_)->value);
  store_.release();
}

// What another mount has changed later is shown by a load before the watch tells of it.
TEST_F(CachedReaderTest, WhatALoadHasShownCountsToo) {
  world_.run_ms(6'000);  // the watch has told of everything
  begin_rename();
  std::optional<Status> landed;
  reader().await_own({old_name_}, [&](Status status) { landed = std::move(status); });
  EXPECT_TRUE(landed) << "nothing has been shown that is younger";
  landed.reset();
  world_.outside_stamped({put(data_key("Iother"), "1")});
  begin_read(data_key("Iother"));
  ASSERT_TRUE(read_ && *read_);
  reader().await_own({old_name_}, [&](Status status) { landed = std::move(status); });
  EXPECT_FALSE(landed);
  store_.release();
  ASSERT_TRUE(landed && *landed);
}

TEST_F(CachedReaderTest, NothingElseIsAwaited) {
  begin_rename();
  std::optional<Status> landed;
  reader().await_own({data_key("Dother")}, [&](Status status) { landed = std::move(status); });
  EXPECT_TRUE(landed && *landed);
  store_.release();
  landed.reset();
  reader().await_own({old_name_}, [&](Status status) { landed = std::move(status); });
  EXPECT_TRUE(landed && *landed);
}

TEST_F(CachedReaderTest, TheEndOfTheSessionEndsTheWaitForAName) {
  begin_rename();
  std::optional<Status> landed;
  reader().await_own({old_name_}, [&](Status status) { landed = std::move(status); });
  session_->core().shut_down();
  ASSERT_TRUE(landed);
  EXPECT_EQ(landed->error().code, ErrorCode::kShutdown);
  store_.release();
}

}  // namespace
}  // namespace symnas::kv

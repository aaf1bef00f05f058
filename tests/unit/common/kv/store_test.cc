#include "common/kv/store.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>

namespace symnas::kv {
namespace {

using std::string_literals::operator""s;

TEST(KeyRange, prefix) {
  EXPECT_EQ(prefix_range("a").end, "b");
  EXPECT_EQ(prefix_range("a\xff").end, "b");
  EXPECT_EQ(prefix_range("a\xff\xff").end, "b");
  EXPECT_EQ(prefix_range("\xff").end, "\0"s) << "to the last key";
  EXPECT_EQ(prefix_range("").end, "\0"s);
}

TEST(KeyRange, contains) {
  EXPECT_TRUE(contains(single_key("a"), "a"));
  EXPECT_FALSE(contains(single_key("a"), "a\0"s));
  EXPECT_TRUE(contains(prefix_range("a"), "a"));
  EXPECT_TRUE(contains(prefix_range("a"), "a\xff\xff"));
  EXPECT_FALSE(contains(prefix_range("a"), "b"));
  EXPECT_TRUE(contains(prefix_range("\xff"), "\xff\xff"));
  EXPECT_FALSE(contains(prefix_range("\xff"), "\xfe"));
  EXPECT_TRUE(contains(KeyRange{"a", "c"}, "b"));
  EXPECT_FALSE(contains(KeyRange{"a", "c"}, "c"));
  EXPECT_FALSE(contains(KeyRange{"c", "a"}, "b"));
}

TEST(KeyRange, overlap) {
  EXPECT_TRUE(overlap(single_key("a"), single_key("a")));
  EXPECT_FALSE(overlap(single_key("a"), single_key("b")));
  EXPECT_TRUE(overlap(prefix_range("a"), single_key("ab")));
  EXPECT_TRUE(overlap(single_key("ab"), prefix_range("a")));
  EXPECT_TRUE(overlap(KeyRange{"a", "c"}, KeyRange{"b", "d"}));
  EXPECT_FALSE(overlap(KeyRange{"a", "b"}, KeyRange{"b", "c"}));
  EXPECT_TRUE(overlap(prefix_range(""), single_key("z")));
}

TEST(Compare, shorthands) {
  EXPECT_EQ(key_absent("a").target, Compare::Target::kVersion);
  EXPECT_EQ(key_absent("a").relation, Compare::Relation::kEqual);
  EXPECT_EQ(key_absent("a").number, 0);
  EXPECT_EQ(key_exists("a").relation, Compare::Relation::kGreater);
  EXPECT_EQ(range_absent(prefix_range("a")).range.end, "b");
  EXPECT_EQ(mod_revision_is("a", Revision(7)).target, Compare::Target::kModRevision);
  EXPECT_EQ(create_revision_is("a", Revision(7)).target, Compare::Target::kCreateRevision);
  EXPECT_EQ(create_revision_is("a", Revision(7)).number, 7);
  EXPECT_EQ(value_is("a", "v").value, "v");
}

// Answers each try from a list.
class ScriptedStore final : public Store {
 public:
  std::deque<Result<TxnResult>> answers;
  int tries = 0;

  void txn(Txn /*txn*/, TryOptions options, TxnCallback done) override {
    ++tries;
    EXPECT_GT(options.timeout_ms, 0);
    Result<TxnResult> answer = fail(ErrorCode::kUnavailable, "away");
    if (!answers.empty()) {
      answer = std::move(answers.front());
      answers.pop_front();
    }
    done(std::move(answer));
  }
  std::unique_ptr<Watch> watch(KeyRange, Revision, WatchHandler*) override { return nullptr; }
  Status compact(Revision, TryOptions) override { return {}; }
  std::vector<MemberStatus> status(TryOptions) override { return {}; }
};

TEST(TxnBlocking, tries_again_when_not_executed) {
  ScriptedStore store;
  store.answers.push_back(fail(ErrorCode::kUnavailable, "away"));
  store.answers.push_back(TxnResult{.succeeded = true});
  EXPECT_TRUE(txn_blocking(store, Txn{}, 1000));
  EXPECT_EQ(store.tries, 2);
}

TEST(TxnBlocking, never_repeats_what_may_have_been_executed) {
  ScriptedStore store;
  store.answers.push_back(fail(ErrorCode::kUnknownOutcome, "lost"));
  EXPECT_EQ(txn_blocking(store, Txn{}, 1000).error().code, ErrorCode::kUnknownOutcome);
  EXPECT_EQ(store.tries, 1);
}

TEST(TxnBlocking, gives_up_at_the_deadline) {
  ScriptedStore store;
  EXPECT_EQ(txn_blocking(store, Txn{}, 10).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(store.tries, 1);
}

TEST(RangeBlocking, passes_errors_on) {
  ScriptedStore store;
  store.answers.push_back(fail(ErrorCode::kShutdown, "closed"));
  EXPECT_EQ(range_blocking(store, single_key("a"), 0, 1000).error().code, ErrorCode::kShutdown);
}

}  // namespace
}  // namespace symnas::kv

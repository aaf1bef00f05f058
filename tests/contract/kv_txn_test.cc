// Transactions: what they read, write, compare, refuse and answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <tuple>

#include "tests/contract/kv_contract.h"

namespace symnas::kv::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Relation = Compare::Relation;
using Target = Compare::Target;

Txn guarded(Compare compare, std::vector<Op> success = {}, std::vector<Op> failure = {}) {
  Txn txn;
  txn.compares.push_back(std::move(compare));
  txn.success = std::move(success);
  txn.failure = std::move(failure);
  return txn;
}

Compare compare_of(KeyRange range, Target target, Relation relation, std::int64_t number,
                   std::string value = {}) {
  Compare compare;
  compare.range = std::move(range);
  compare.target = target;
  compare.relation = relation;
  compare.number = number;
  compare.value = std::move(value);
  return compare;
}

INSTANTIATE_TEST_SUITE_P(Stores, KvContract,
                         ::testing::Values(Backend::kMem, Backend::kMemThread, Backend::kEtcd,
                                           Backend::kEtcdTls3),
                         [](const auto& param) { return name_of(param.param); });

TEST_P(KvContract, versions_and_revisions) {
  const Revision created = must_put("a", "1");
  const Revision changed = must_put("a", "2");
  EXPECT_EQ(changed.value(), created.value() + 1) << "one revision per change";
  const auto kv = read("a");
  ASSERT_TRUE(kv);
  EXPECT_EQ(kv->key, key("a"));
  EXPECT_EQ(kv->value, "2");
  EXPECT_EQ(kv->version, 2);
  EXPECT_EQ(kv->create_revision, created);
  EXPECT_EQ(kv->mod_revision, changed);
  must_erase("a");
  EXPECT_FALSE(read("a"));
  const Revision again = must_put("a", "3");
  EXPECT_EQ(read("a")->version, 1);
  EXPECT_EQ(read("a")->create_revision, again);
}

TEST_P(KvContract, only_changes_take_a_revision) {
  const Revision before = must_put("a", "1");
  EXPECT_EQ(must(ops({get(key("a"))})), before);
  EXPECT_EQ(must_erase("absent"), before);
  auto failed = run(guarded(key_absent(key("a")), {put(key("b"), "")}));
  ASSERT_TRUE(failed);
  EXPECT_FALSE(failed->succeeded);
  EXPECT_EQ(failed->revision, before);
  EXPECT_EQ(must(ops({put(key("a"), "1"), put(key("b"), "1"), erase(key("c"))})).value(),
            before.value() + 1)
      << "several changes share one revision";
  EXPECT_EQ(read("a")->mod_revision, read("b")->mod_revision);
}

TEST_P(KvContract, results_follow_the_operations) {
  must_put("a", "1");
  auto result = run(ops({get(key("a")), put(key("b"), "2"), get(key("b")), erase(key("a")),
                         get(key("a")), nested(ops({get(key("b"))}))}));
  ASSERT_TRUE(result);
  const auto& r = result->results;
  ASSERT_EQ(r.size(), 6U);
  EXPECT_EQ(r[0].kind, Op::Kind::kRange);
  EXPECT_EQ(r[0].kvs.at(0).value, "1");
  EXPECT_EQ(r[1].kind, Op::Kind::kPut);
  EXPECT_EQ(r[2].kvs.at(0).value, "2") << "reads see earlier puts";
  EXPECT_EQ(r[2].kvs.at(0).mod_revision, result->revision);
  EXPECT_EQ(r[3].kind, Op::Kind::kDelete);
  EXPECT_EQ(r[3].count, 1);
  EXPECT_THAT(r[4].kvs, IsEmpty()) << "reads see earlier deletes";
  EXPECT_EQ(r[5].kind, Op::Kind::kTxn);
  ASSERT_NE(r[5].txn, nullptr);
  EXPECT_TRUE(r[5].txn->succeeded);
  EXPECT_EQ(r[5].txn->results.at(0).kvs.at(0).value, "2") << "nested reads see earlier puts";
}

TEST_P(KvContract, a_put_after_a_delete_needs_two_transactions) {
  must_put("a", "1");
  EXPECT_EQ(refused(ops({erase(key("a")), put(key("a"), "2")})), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused(ops({erase_range(all()), put(key("b"), "2")})), ErrorCode::kInvalidArgument);
  EXPECT_THAT(dump(), ElementsAre("a=1"));
}

TEST_P(KvContract, compares_of_numbers) {
  const Revision created = must_put("a", "1");
  const Revision changed = must_put("a", "2");
  const auto holds = [&](const std::string& name, Target target, Relation relation,
                         std::int64_t number) {
    auto result = run(guarded(compare_of(single_key(key(name)), target, relation, number)));
    EXPECT_TRUE(result);
    return result && result->succeeded;
  };
  const std::vector<std::tuple<std::string, Target, std::int64_t>> truths = {
      {"a", Target::kVersion, 2},
      {"a", Target::kCreateRevision, created.value()},
      {"a", Target::kModRevision, changed.value()},
      {"absent", Target::kVersion, 0},
      {"absent", Target::kCreateRevision, 0},
      {"absent", Target::kModRevision, 0}};
  for (const auto& [name, target, truth] : truths) {
    for (const std::int64_t delta : {-1, 0, 1}) {
      SCOPED_TRACE(name + " target " + std::to_string(static_cast<int>(target)) + " delta " +
                   std::to_string(delta));
      EXPECT_EQ(holds(name, target, Relation::kEqual, truth + delta), delta == 0);
      EXPECT_EQ(holds(name, target, Relation::kNotEqual, truth + delta), delta != 0);
      EXPECT_EQ(holds(name, target, Relation::kGreater, truth + delta), delta < 0);
      EXPECT_EQ(holds(name, target, Relation::kLess, truth + delta), delta > 0);
    }
  }
}

TEST_P(KvContract, compares_of_values) {
  must_put("a", "m");
  must_put("empty", "");
  const auto holds = [&](const std::string& name, Relation relation, const std::string& value) {
    auto result =
        run(guarded(compare_of(single_key(key(name)), Target::kValue, relation, 0, value)));
    EXPECT_TRUE(result);
    return result && result->succeeded;
  };
  EXPECT_TRUE(holds("a", Relation::kEqual, "m"));
  EXPECT_FALSE(holds("a", Relation::kEqual, "n"));
  EXPECT_TRUE(holds("a", Relation::kNotEqual, "n"));
  EXPECT_TRUE(holds("a", Relation::kGreater, "l"));
  EXPECT_FALSE(holds("a", Relation::kGreater, "m"));
  EXPECT_TRUE(holds("a", Relation::kLess, "ma"));
  EXPECT_TRUE(holds("a", Relation::kLess, "\xff")) << "bytes compare unsigned";
  EXPECT_TRUE(holds("empty", Relation::kEqual, ""));
  EXPECT_FALSE(holds("absent", Relation::kEqual, "")) << "an absent key has no value";
  EXPECT_FALSE(holds("absent", Relation::kNotEqual, "x"));
}

TEST_P(KvContract, compares_of_ranges) {
  const auto holds = [&](Compare compare) {
    auto result = run(guarded(std::move(compare)));
    EXPECT_TRUE(result);
    return result && result->succeeded;
  };
  const auto range = [&] { return prefix_range(key("r/")); };
  EXPECT_TRUE(holds(range_absent(range()))) << "an empty range passes version == 0";
  EXPECT_FALSE(holds(compare_of(range(), Target::kVersion, Relation::kGreater, 0)));
  EXPECT_FALSE(holds(compare_of(range(), Target::kValue, Relation::kEqual, 0, "v")));
  const Revision first = must_put("r/1", "v");
  const Revision second = must_put("r/2", "v");
  EXPECT_FALSE(holds(range_absent(range())));
  EXPECT_TRUE(holds(compare_of(range(), Target::kVersion, Relation::kEqual, 1)));
  EXPECT_TRUE(holds(compare_of(range(), Target::kValue, Relation::kEqual, 0, "v")));
  EXPECT_FALSE(holds(compare_of(range(), Target::kModRevision, Relation::kLess, second.value())))
      << "one key that fails is enough";
  EXPECT_TRUE(
      holds(compare_of(range(), Target::kModRevision, Relation::kLess, second.value() + 1)));
  EXPECT_TRUE(holds(compare_of(KeyRange{key("r/1"), key("r/2")}, Target::kModRevision,
                               Relation::kEqual, first.value())))
      << "the end is exclusive";
}

TEST_P(KvContract, the_failure_branch_runs_when_one_compare_fails) {
  must_put("a", "1");
  Txn txn = guarded(key_exists(key("a")), {put(key("then"), "")}, {put(key("else"), "")});
  txn.compares.push_back(key_exists(key("absent")));
  auto result = run(txn);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->succeeded);
  EXPECT_THAT(dump(), ElementsAre("a=1", "else="));
}

TEST_P(KvContract, nested_compares_see_the_state_before_the_outermost) {
  auto result = run(ops(
      {put(key("a"), "1"),
       nested(guarded(key_absent(key("a")), {put(key("b"), "absent")}, {put(key("b"), "present")})),
       nested(guarded(key_absent(key("b")), {put(key("c"), "absent")}))}));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->results.at(1).txn->succeeded);
  EXPECT_TRUE(result->results.at(2).txn->succeeded);
  EXPECT_THAT(dump(), ElementsAre("a=1", "b=absent", "c=absent"));
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(read(name)->mod_revision, result->revision);
}

TEST_P(KvContract, nested_transactions_decide_alone) {
  must_put("a", "1");
  auto result = run(
      ops({nested(guarded(key_absent(key("a")), {put(key("x"), "")})),
           nested(guarded(key_exists(key("a")), {put(key("y"), "")})),
           nested(guarded(key_exists(key("a")),
                          {nested(guarded(key_absent(key("a")), {}, {put(key("deep"), "")}))}))}));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->succeeded);
  EXPECT_FALSE(result->results.at(0).txn->succeeded);
  EXPECT_TRUE(result->results.at(1).txn->succeeded);
  EXPECT_FALSE(result->results.at(2).txn->results.at(0).txn->succeeded);
  EXPECT_THAT(dump(), ElementsAre("a=1", "deep=", "y="));
}

TEST_P(KvContract, duplicate_puts_are_refused_in_any_branch) {
  const auto twice = [&](Op first, Op second) {
    return refused(ops({std::move(first), std::move(second)}));
  };
  const auto put_a = [&] { return put(key("a"), ""); };
  const auto then_a = [&] { return nested(guarded(key_absent(key("g")), {put_a()})); };
  const auto else_a = [&] { return nested(guarded(key_absent(key("g")), {}, {put_a()})); };
  EXPECT_EQ(twice(put_a(), put_a()), ErrorCode::kInvalidArgument);
  EXPECT_EQ(twice(put_a(), then_a()), ErrorCode::kInvalidArgument);
  EXPECT_EQ(twice(else_a(), put_a()), ErrorCode::kInvalidArgument);
  EXPECT_EQ(twice(then_a(), else_a()), ErrorCode::kInvalidArgument)
      << "also where only one of them can be taken";
  EXPECT_EQ(twice(erase(key("a")), then_a()), ErrorCode::kInvalidArgument);
  EXPECT_EQ(twice(nested(ops({erase_range(all())})), put_a()), ErrorCode::kInvalidArgument);
  Txn never = guarded(key_absent(key("g")));
  never.failure = {put_a(), put_a()};
  EXPECT_EQ(refused(never), ErrorCode::kInvalidArgument) << "in the branch that is not taken";
  EXPECT_THAT(dump(), IsEmpty());
}

TEST_P(KvContract, branches_of_one_transaction_may_put_the_same_key) {
  must(guarded(key_absent(key("g")), {put(key("a"), "then")}, {put(key("a"), "else")}));
  must(ops(
      {nested(guarded(key_exists(key("g")), {put(key("b"), "then")}, {put(key("b"), "else")}))}));
  EXPECT_THAT(dump(), ElementsAre("a=then", "b=else"));
}

TEST_P(KvContract, a_later_nested_delete_may_take_back_a_put) {
  must(ops({nested(ops({put(key("a"), "")})), nested(ops({erase(key("a"))}))}));
  EXPECT_THAT(dump(), IsEmpty());
}

TEST_P(KvContract, ranges) {
  for (const char* name : {"r/c", "r/a", "r/b", "s"}) must_put(name, name);
  const auto names = [](const OpResult& result) {
    std::vector<std::string> out;
    for (const KeyValue& kv : result.kvs) out.push_back(kv.value);
    return out;
  };
  Op keys_only = get_range(prefix_range(key("r/")));
  keys_only.keys_only = true;
  Op count_only = get_range(prefix_range(key("r/")));
  count_only.count_only = true;
  auto result = run(ops({get_range(prefix_range(key("r/"))), get_range(prefix_range(key("r/")), 2),
                         get_range(prefix_range(key("r/")), 3), keys_only, count_only,
                         get_range(KeyRange{key("r/b"), key("r/c")}),
                         get_range(KeyRange{key("r/c"), key("r/a")}), get(key("r/"))}));
  ASSERT_TRUE(result);
  const auto& r = result->results;
  EXPECT_THAT(names(r[0]), ElementsAre("r/a", "r/b", "r/c"));
  EXPECT_EQ(r[0].count, 3);
  EXPECT_FALSE(r[0].more);
  EXPECT_THAT(names(r[1]), ElementsAre("r/a", "r/b"));
  EXPECT_EQ(r[1].count, 3) << "the count is not limited";
  EXPECT_TRUE(r[1].more);
  EXPECT_FALSE(r[2].more);
  ASSERT_EQ(r[3].kvs.size(), 3U);
  EXPECT_EQ(r[3].kvs[0].key, key("r/a"));
  EXPECT_EQ(r[3].kvs[0].value, "");
  EXPECT_EQ(r[3].kvs[0].version, 1);
  EXPECT_THAT(r[4].kvs, IsEmpty());
  EXPECT_EQ(r[4].count, 3);
  EXPECT_THAT(names(r[5]), ElementsAre("r/b"));
  EXPECT_THAT(names(r[6]), IsEmpty()) << "a range that ends before it begins";
  EXPECT_THAT(names(r[7]), IsEmpty());
}

TEST_P(KvContract, range_to_the_last_key) {
  must_put("\xff\xff", "last");
  auto result =
      range_blocking(store(), KeyRange{key("\xff"), std::string(1, '\0')}, 0, kPatienceMs);
  ASSERT_TRUE(result);
  ASSERT_FALSE(result->kvs.empty());
  EXPECT_EQ(result->kvs.front().value, "last");
}

TEST_P(KvContract, ranges_at_an_old_revision) {
  must_put("a", "1");
  must_put("b", "1");
  const Revision old = must_put("c", "1");
  must_put("a", "2");
  must_erase("b");
  must_put("d", "1");
  must(ops({erase(key("c"))}));
  must_put("c", "3");
  Op then = get_range(all());
  then.revision = old;
  Op limited = then;
  limited.limit = 2;
  const auto result = run(ops({then, limited}));
  ASSERT_TRUE(result) << result.error().message;
  std::vector<std::string> seen;
  for (const KeyValue& kv : result->results[0].kvs) {
    seen.push_back(kv.key.substr(key("").size()) + "=" + kv.value);
    EXPECT_LE(kv.mod_revision, old);
    EXPECT_EQ(kv.version, 1);
  }
  EXPECT_THAT(seen, ElementsAre("a=1", "b=1", "c=1"));
  EXPECT_EQ(result->results[1].kvs.size(), 2U);
  EXPECT_TRUE(result->results[1].more);
  EXPECT_GT(result->revision, old) << "the answer still tells the newest revision";
}

TEST_P(KvContract, ranges_at_a_revision_that_is_not_there) {
  const Revision first = must_put("a", "1");
  const Revision second = must_put("a", "2");
  Op read = get_range(all());
  read.revision = Revision(second.value() + 1'000'000);
  EXPECT_EQ(refused(ops({read})), ErrorCode::kOutOfRange);
  const Status compacted = store().compact(second, TryOptions{kPatienceMs});
  ASSERT_TRUE(compacted) << compacted.error().message;
  read.revision = first;
  EXPECT_EQ(refused(ops({read})), ErrorCode::kCompacted);
  read.revision = second;
  EXPECT_TRUE(run(ops({read}))) << "the revision of the compaction itself is there";
}

TEST_P(KvContract, range_deletes) {
  for (const char* name : {"r/a", "r/b", "r/c", "s"}) must_put(name, "");
  auto result = run(ops({erase_range(KeyRange{key("r/a"), key("r/c")})}));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->results.at(0).count, 2);
  EXPECT_THAT(dump(), ElementsAre("r/c=", "s="));
}

TEST_P(KvContract, keys_and_values_are_bytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  must_put(bytes, bytes);
  const auto kv = read(bytes);
  ASSERT_TRUE(kv);
  EXPECT_EQ(kv->key, key(bytes));
  EXPECT_EQ(kv->value, bytes);
}

TEST_P(KvContract, limits_of_operations_and_bytes) {
  std::vector<Op> many;
  for (int i = 0; i < kTxnOpsMax; ++i) many.push_back(put(key("k" + std::to_string(i)), ""));
  EXPECT_TRUE(run(ops(many))) << "kTxnOpsMax operations are fine";
  std::vector<Op> more = many;
  while (static_cast<int>(more.size()) <= 2048) more.push_back(get(key("x")));
  EXPECT_EQ(refused(ops(more)), ErrorCode::kTooLarge);
  // Each nesting level has what the lists around it leave.
  std::vector<Op> outer(1, nested(ops(many)));
  while (outer.size() < 1024) outer.push_back(get(key("x")));
  EXPECT_TRUE(run(ops(outer))) << "1024 + 1024";
  outer.push_back(get(key("x")));
  EXPECT_EQ(refused(ops(outer)), ErrorCode::kTooLarge) << "1025 + 1024";
  EXPECT_TRUE(run(ops({put(key("big"), std::string(kTxnBytesMax - 1000, 'x'))})));
  EXPECT_EQ(refused(ops({put(key("big"), std::string(1'600'000, 'x'))})), ErrorCode::kTooLarge);
  EXPECT_EQ(refused(ops({put(key("big"), std::string(3'000'000, 'x'))})), ErrorCode::kTooLarge);
}

TEST_P(KvContract, an_empty_key_is_refused) {
  EXPECT_EQ(refused(ops({put("", "v")})), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused(ops({get("")})), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused(guarded(key_absent(""))), ErrorCode::kInvalidArgument);
}

TEST_P(KvContract, an_empty_transaction_succeeds) {
  auto result = run(Txn{});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->succeeded);
  EXPECT_GT(result->revision.value(), 0);
}

TEST_P(KvContract, concurrent_increments_lose_nothing) {
  constexpr int kThreads = 4;
  constexpr int kEach = 50;
  must_put("n", "0");
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this] {
      for (int done = 0; done < kEach;) {
        const auto kv = read("n");
        ASSERT_TRUE(kv);
        auto result = run(guarded(mod_revision_is(key("n"), kv->mod_revision),
                                  {put(key("n"), std::to_string(std::stoi(kv->value) + 1))}));
        ASSERT_TRUE(result) << result.error().message;
        if (result->succeeded) ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read("n")->value, std::to_string(kThreads * kEach));
}

TEST_P(KvContract, many_transactions_in_flight) {
  constexpr int kTxns = 500;
  std::mutex mutex;
  std::condition_variable wake;
  int answered = 0;
  int good = 0;
  for (int i = 0; i < kTxns; ++i) {
    store().txn(ops({put(key(std::to_string(i)), "")}), {.timeout_ms = kPatienceMs},
                [&](const Result<TxnResult>& result) {
                  const std::scoped_lock lock(mutex);
                  ++answered;
                  if (result) ++good;
                  wake.notify_all();
                });
  }
  std::unique_lock lock(mutex);
  wake.wait(lock, [&] { return answered == kTxns; });
  EXPECT_EQ(good, kTxns);
  lock.unlock();
  EXPECT_EQ(dump().size(), static_cast<std::size_t>(kTxns));
}

TEST_P(KvContract, status_names_one_leader) {
  const Revision at = must_put("a", "");
  int leaders = 0;
  for (const MemberStatus& member : store().status({.timeout_ms = 2000})) {
    EXPECT_TRUE(member.reachable) << member.error;
    EXPECT_FALSE(member.endpoint.empty());
    EXPECT_FALSE(member.no_space_alarm);
    EXPECT_GT(member.db_size_bytes, 0);
    if (!member.leader) continue;
    ++leaders;
    EXPECT_GE(member.revision, at);
  }
  EXPECT_EQ(leaders, 1);
}

}  // namespace
}  // namespace symnas::kv::testing

// Watches and compaction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <thread>

#include "tests/contract/kv_contract.h"

namespace symnas::kv::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KvWatch : public KvContract {
 protected:
  std::string seen(char sign, const std::string& name, Revision at) const {
    return sign + key(name) + "@" + std::to_string(at.value());
  }
  Recorder recorder;
};

INSTANTIATE_TEST_SUITE_P(Stores, KvWatch,
                         ::testing::Values(Backend::kMem, Backend::kMemThread, Backend::kEtcd,
                                           Backend::kEtcdTls3),
                         [](const auto& param) { return name_of(param.param); });

TEST_P(KvWatch, from_now) {
  const Revision before = must_put("old", "");
  const auto watch = store().watch(all(), Revision(0), &recorder);
  EXPECT_GE(recorder.wait_created(), before);
  const Revision created = must_put("a", "1");
  const Revision changed = must_put("a", "2");
  const Revision erased = must_erase("a");
  const Revision last = must_put("last", "");
  recorder.wait_key(key("last"));
  EXPECT_THAT(recorder.seen(), ElementsAre(seen('+', "a", created), seen('+', "a", changed),
                                           seen('-', "a", erased), seen('+', "last", last)));
}

TEST_P(KvWatch, events_carry_the_record) {
  const auto watch = store().watch(all(), Revision(0), &recorder);
  recorder.wait_created();
  const Revision created = must_put("a", "1");
  const Revision changed = must_put("a", "2");
  const Revision erased = must_erase("a");
  must_put("last", "");
  recorder.wait_key(key("last"));
  std::vector<WatchEvent> events;
  for (const auto& call : recorder.calls()) {
    events.insert(events.end(), call.events.begin(), call.events.end());
  }
  ASSERT_EQ(events.size(), 4U);
  EXPECT_FALSE(events[1].deleted);
  EXPECT_EQ(events[1].kv.value, "2");
  EXPECT_EQ(events[1].kv.version, 2);
  EXPECT_EQ(events[1].kv.create_revision, created);
  EXPECT_EQ(events[1].kv.mod_revision, changed);
  EXPECT_TRUE(events[2].deleted);
  EXPECT_EQ(events[2].kv.key, key("a"));
  EXPECT_EQ(events[2].kv.mod_revision, erased);
  EXPECT_EQ(events[2].kv.version, 0);
  EXPECT_EQ(events[2].kv.value, "");
}

TEST_P(KvWatch, only_its_range) {
  const auto one = store().watch(single_key(key("b")), Revision(0), &recorder);
  Recorder half_open;
  const auto two = store().watch(KeyRange{key("b"), key("d")}, Revision(0), &half_open);
  recorder.wait_created();
  half_open.wait_created();
  const Revision at =
      must(ops({put(key("a"), ""), put(key("b"), ""), put(key("c"), ""), put(key("d"), "")}));
  half_open.wait_key(key("c"));
  recorder.wait_key(key("b"));
  EXPECT_THAT(recorder.seen(), ElementsAre(seen('+', "b", at)));
  EXPECT_THAT(half_open.seen(), ElementsAre(seen('+', "b", at), seen('+', "c", at)));
}

TEST_P(KvWatch, one_revision_arrives_whole) {
  const auto watch = store().watch(all(), Revision(0), &recorder);
  recorder.wait_created();
  constexpr int kKeys = 200;
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Op> puts;
    for (int i = 0; i < kKeys; ++i) {
      puts.push_back(put(key("k" + std::to_string(i)), std::to_string(round)));
    }
    must(ops(std::move(puts)));
  }
  must_put("last", "");
  recorder.wait_key(key("last"));
  Revision newest(0);
  std::size_t events = 0;
  for (const auto& call : recorder.calls()) {
    std::map<Revision, int> count;
    for (const WatchEvent& event : call.events) {
      EXPECT_GE(event.kv.mod_revision, newest) << "revisions ascend";
      newest = event.kv.mod_revision;
      ++count[event.kv.mod_revision];
      ++events;
    }
    EXPECT_EQ(call.revision, newest) << "the call names its newest revision";
    for (const auto& [revision, n] : count) {
      EXPECT_TRUE(n == kKeys || n == 1) << n << " events of revision " << revision.value();
    }
  }
  EXPECT_EQ(events, static_cast<std::size_t>(kKeys * kRounds + 1));
}

TEST_P(KvWatch, put_and_delete_in_one_transaction_are_two_events) {
  const auto watch = store().watch(all(), Revision(0), &recorder);
  recorder.wait_created();
  const Revision at = must(ops(
      {nested(ops({put(key("a"), "")})), nested(ops({erase(key("a"))})), put(key("last"), "")}));
  recorder.wait_key(key("last"));
  EXPECT_THAT(recorder.seen(),
              ElementsAre(seen('+', "a", at), seen('-', "a", at), seen('+', "last", at)));
}

TEST_P(KvWatch, a_range_delete_reports_every_key) {
  // From a revision: a member of etcd that lags would have "now" before these.
  const Revision before = must(ops({put(key("a"), ""), put(key("b"), "")}));
  const auto watch = store().watch(all(), Revision(before.value() + 1), &recorder);
  recorder.wait_created();
  const Revision at = must(ops({erase_range(all())}));
  recorder.wait_key(key("b"));
  EXPECT_THAT(recorder.seen(), ElementsAre(seen('-', "a", at), seen('-', "b", at)));
}

TEST_P(KvWatch, from_an_old_revision) {
  must_put("before", "");
  const Revision first = must_put("a", "1");
  const Revision second = must_erase("a");
  const Revision third = must_put("b", "1");
  const auto watch = store().watch(all(), first, &recorder);
  EXPECT_EQ(recorder.wait_created().value(), first.value() - 1);
  recorder.wait_key(key("b"));
  const Revision live = must_put("last", "");
  recorder.wait_key(key("last"));
  EXPECT_THAT(recorder.seen(), ElementsAre(seen('+', "a", first), seen('-', "a", second),
                                           seen('+', "b", third), seen('+', "last", live)));
}

TEST_P(KvWatch, from_a_future_revision) {
  const Revision now = must_put("a", "");
  const auto watch = store().watch(all(), Revision(now.value() + 2), &recorder);
  recorder.wait_created();
  must_put("skipped", "");
  const Revision seen_at = must_put("last", "");
  recorder.wait_key(key("last"));
  EXPECT_THAT(recorder.seen(), ElementsAre(seen('+', "last", seen_at)));
}

TEST_P(KvWatch, catch_up_of_many_megabytes) {
  const Revision first = must_put("start", "");
  constexpr int kPuts = 12;
  constexpr std::size_t kBytes = 1'000'000;  // together beyond gRPC's 4 MiB
  for (int i = 0; i < kPuts; ++i) must_put("big", std::string(kBytes, static_cast<char>('a' + i)));
  must_put("last", "");
  const auto watch = store().watch(all(), first, &recorder);
  recorder.wait_key(key("last"));
  EXPECT_EQ(recorder.bytes(), kPuts * kBytes);
}

TEST_P(KvWatch, two_watches_do_not_disturb_each_other) {
  Recorder other;
  auto first = store().watch(all(), Revision(0), &recorder);
  const auto second = store().watch(all(), Revision(0), &other);
  recorder.wait_created();
  other.wait_created();
  must_put("a", "");
  recorder.wait_key(key("a"));
  first.reset();
  must_put("b", "");
  other.wait_key(key("b"));
  EXPECT_EQ(recorder.seen().size(), 1U) << "nothing after the watch was destroyed";
}

TEST_P(KvWatch, destroyed_under_load) {
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) static_cast<void>(run(ops({put(key("a"), std::to_string(i))})));
  });
  for (int i = 0; i < 30; ++i) {
    auto handler = std::make_unique<Recorder>();
    auto watch = store().watch(all(), Revision(0), handler.get());
    if (i % 2 == 0) handler->wait_key(key("a"));
    watch.reset();
    handler.reset();  // a later call would touch freed memory
  }
  stop = true;
  writer.join();
}

TEST_P(KvWatch, compaction) {
  const Revision first = must_put("a", "1");
  const Revision second = must_put("a", "2");
  const Revision third = must_erase("a");
  const Revision last = must_put("last", "");
  ASSERT_TRUE(store().compact(third, {.timeout_ms = kPatienceMs}));
  EXPECT_EQ(store().compact(third, {.timeout_ms = kPatienceMs}).error().code,
            ErrorCode::kCompacted);
  EXPECT_EQ(
      store().compact(Revision(last.value() + 1'000'000), {.timeout_ms = kPatienceMs}).error().code,
      ErrorCode::kOutOfRange);

  Recorder too_old;
  const auto gone = store().watch(all(), second, &too_old);
  EXPECT_EQ(too_old.wait_ended(), ErrorCode::kCompacted);
  EXPECT_THAT(too_old.seen(), IsEmpty());
  Recorder much_too_old;
  const auto long_gone = store().watch(all(), first, &much_too_old);
  EXPECT_EQ(much_too_old.wait_ended(), ErrorCode::kCompacted);

  const auto watch = store().watch(all(), third, &recorder);
  recorder.wait_key(key("last"));
  EXPECT_THAT(recorder.seen(), ElementsAre(seen('-', "a", third), seen('+', "last", last)))
      << "the compacted revision itself is still there, a deletion too";
  EXPECT_THAT(dump(), ElementsAre("last="));
}

TEST_P(KvWatch, a_running_watch_survives_compaction) {
  const auto watch = store().watch(all(), Revision(0), &recorder);
  recorder.wait_created();
  const Revision first = must_put("a", "");
  recorder.wait_key(key("a"));
  ASSERT_TRUE(store().compact(first, {.timeout_ms = kPatienceMs}));
  const Revision second = must_put("b", "");
  recorder.wait_key(key("b"));
  EXPECT_THAT(recorder.seen(), ElementsAre(seen('+', "a", first), seen('+', "b", second)));
}

}  // namespace
}  // namespace symnas::kv::testing

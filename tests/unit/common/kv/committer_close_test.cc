// The session is closed while an answer of the store is being processed: every operation is
// answered all the same. Two threads; each round meets at another point of the code.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/kv/committer.h"
#include "session_world.h"

namespace symnas::kv {
namespace {

// Keeps each request; the test answers it.
class AskedStore final : public Store {
 public:
  void txn(Txn, TryOptions, TxnCallback done) override { asked.push_back(std::move(done)); }
  std::unique_ptr<Watch> watch(KeyRange, Revision, WatchHandler*) override { return nullptr; }
  Status compact(Revision, TryOptions) override { return {}; }
  std::vector<MemberStatus> status(TryOptions) override { return {}; }

  TxnCallback take() {
    TxnCallback done = std::move(asked.front());
    asked.pop_front();
    return done;
  }
  std::deque<TxnCallback> asked;
};

TxnResult executed(std::int64_t revision, std::size_t operations) {
  TxnResult result;
  result.succeeded = true;
  result.revision = Revision(revision);
  for (std::size_t i = 0; i < operations; ++i) {
    OpResult nested;
    nested.kind = Op::Kind::kTxn;
    nested.txn = std::make_shared<TxnResult>();
    nested.txn->succeeded = true;
    result.results.push_back(std::move(nested));
  }
  return result;
}

// The failure branch finds no mount record.
TxnResult disproof() {
  TxnResult result;
  result.results.resize(3);
  return result;
}

// Runs `action` on a second thread once per round: meet() returns when it is about to begin.
class Beside {
 public:
  explicit Beside(std::function<void()> action)
      : thread_([this, action = std::move(action)] {
          for (int round = 1;; ++round) {
            while (wanted_ < round) {
              if (stop_) return;
              std::this_thread::yield();
            }
            ready_ = round;
            while (go_ < round) {
            }
            action();
            finished_ = round;
          }
        }) {}
  ~Beside() {
    stop_ = true;
    thread_.join();
  }
  void meet() {
    const int round = ++wanted_;
    while (ready_ < round) std::this_thread::yield();
    go_ = round;
  }
  void finish() {
    while (finished_ < wanted_) std::this_thread::yield();
  }

 private:
  std::atomic<int> wanted_{0};
  std::atomic<int> ready_{0};
  std::atomic<int> go_{0};
  std::atomic<int> finished_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class CommitterCloseTest : public ::testing::TestWithParam<int> {};

TEST_P(CommitterCloseTest, AnswersEveryOperationOnce) {
  SessionOptions options;
  options.session_id = "s";
  options.slot_prefix = "slot/";
  options.watched = prefix_range("w");
  options.stamp_key = "wstamp";
  options.mount_key = "wmount";
  options.mount_create_revision = Revision(5);
  options.ended_key = "wmountE";
  constexpr int kRounds = 100;
  constexpr int kOperations = kBatchesInFlightMax + 2;
  std::shared_ptr<SessionContext> context;
  Beside closer([&] { context->close(Error{ErrorCode::kShutdown, "closed"}, {}); });
  for (int round = 0; round < kRounds; ++round) {
    AskedStore store;
    context = std::make_shared<SessionContext>(
        store, env::system_clock(), options, [](Error) {}, [] {});
    Committer committer(*context);
    committer.start([](Status) {});
    for (int i = 0; i < kSessionSlots; ++i) store.take()(executed(i + 1, 0));
    std::atomic<int> answered{0};
    for (int i = 0; i < kOperations; ++i) {
      Mutation mutation;
      mutation.writes.push_back(put("wI" + std::to_string(i), "v"));
      committer.commit(std::move(mutation), [&](Result<Committed>) { ++answered; });
    }
    store.take()(executed(100, 1));  // its slot takes the two operations that waited, in one batch
    const TxnCallback answer = std::move(store.asked.back());
    store.asked.pop_back();
    Result<TxnResult> what = disproof();
    switch (GetParam()) {
      case 0: what = fail(ErrorCode::kUnavailable, "not executed"); break;
      case 1: what = fail(ErrorCode::kUnknownOutcome, "no reply"); break;
      case 2: what = fail(ErrorCode::kNoSpace, "quota"); break;
      case 3: what = fail(ErrorCode::kTooLarge, "too large"); break;
      default: break;
    }
    closer.meet();
    for (volatile int pause = round % 50 * 10; pause > 0;) pause = pause - 1;
    answer(std::move(what));
    closer.finish();
    ASSERT_EQ(answered, kOperations) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Answers, CommitterCloseTest, ::testing::Range(0, 5));

}  // namespace
}  // namespace symnas::kv

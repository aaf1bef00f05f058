#include "vnfsd/daemon/follow/cluster_follower.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "tests/unit/vnfsd/daemon/head_world.h"

namespace symnas::vnfsd::daemon {
namespace {

// Counts what it is asked for, and waits for it.
class CountingUser final : public RecordsUser {
 public:
  Status register_head() override {
    const std::scoped_lock lock(mutex_);
    ++registrations;
    changed_.notify_all();
    return registered;
  }
  Status follow(const ClusterView& view) override {
    const std::scoped_lock lock(mutex_);
    last = view;
    ++follows;
    changed_.notify_all();
    return {};
  }
  void followed() override {
    const std::scoped_lock lock(mutex_);
    ++rounds;
    changed_.notify_all();
  }
  std::int64_t pause_ms() const override { return 3'600'000; }

  template <class Condition>
  void wait(const Condition& condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, condition);
  }
  void answer(Status status) {
    const std::scoped_lock lock(mutex_);
    registered = std::move(status);
  }

  Status registered;
  int registrations = 0;
  int follows = 0;
  int rounds = 0;
  ClusterView last;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class ClusterFollowerTest : public HeadWorld {
 protected:
  ~ClusterFollowerTest() override { end.request_stop(); }
  CountingUser user;
  std::stop_source end;
  ClusterFollower follower{head, end.get_token()};
};

TEST_F(ClusterFollowerTest, RegistersBeforeItFollows) {
  EXPECT_FALSE(follower.is_ready());
  follower.start(user);
  EXPECT_TRUE(follower.wait_ready());
  user.wait([&] { return user.rounds >= 1; });
  EXPECT_TRUE(follower.is_ready());
  end.request_stop();
  follower.join();
  EXPECT_EQ(user.registrations, 1);
  EXPECT_GE(user.follows, 1);
}

TEST_F(ClusterFollowerTest, FollowsWhatTheWatchShows) {
  follower.start(user);
  ASSERT_TRUE(follower.wait_ready());
  builder.head("c1n2", "10.99.0.2");
  user.wait([&] { return user.last.heads.contains("c1n2"); });
  end.request_stop();
  follower.join();
}

TEST_F(ClusterFollowerTest, LooksAgainWhenItIsTold) {
  follower.start(user);
  ASSERT_TRUE(follower.wait_ready());
  user.wait([&] { return user.rounds >= 1; });
  int before = 0;
  user.wait([&] {
    before = user.follows;
    return true;
  });
  follower.look_again();
  user.wait([&] { return user.follows > before; });
  end.request_stop();
  follower.join();
}

TEST_F(ClusterFollowerTest, WhoWaitsForARemovedHeadIsToldWhy) {
  user.answer(fail(ErrorCode::kForeign, "head c1n3: was removed"));
  follower.start(user);
  const Status refused = follower.wait_ready();
  EXPECT_EQ(code_of(refused), ErrorCode::kForeign);
  EXPECT_EQ(refused.error().message, "head c1n3: was removed");
  EXPECT_FALSE(follower.is_ready());
  end.request_stop();
  follower.join();
  EXPECT_EQ(user.follows, 0);
}

TEST_F(ClusterFollowerTest, AReadingWithoutAWatchIsNoCopy) {
  EXPECT_FALSE(follower.shown());
  EXPECT_TRUE(follower.fresh());
  EXPECT_FALSE(follower.shown()) << "nothing would keep it up to date";
  const auto seen = follower.seen();
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->heads.contains("c1n1"));
}

TEST_F(ClusterFollowerTest, WhoWaitsWhenItEndsIsNotKept) {
  end.request_stop();
  EXPECT_EQ(code_of(follower.wait_ready()), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

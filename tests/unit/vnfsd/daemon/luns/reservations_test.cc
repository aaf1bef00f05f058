// When this boot is registered, and what it may do before, afterwards, and once it was fenced.
#include "vnfsd/daemon/luns/reservations.h"

#include <algorithm>
#include <future>

#include <gtest/gtest.h>

#include "tests/unit/cvm/lun_files.h"

namespace symnas::vnfsd::daemon {
namespace {

constexpr std::int64_t kSoonMs = 5'000;
const LunNames kOne = {{"lab.LUN0", "LUN0"}};
const LunNames kTwo = {{"lab.LUN0", "LUN0"}, {"lab.LUN1", "LUN1"}};

class ReservationsTest : public ::testing::Test {
 protected:
  ReservationsTest() : zero(files.make("LUN0")), one(files.make("LUN1")) {
    ids = {{zero, "lab.LUN0"}, {one, "lab.LUN1"}};
  }
  void start() {
    ReservationCalls calls;
    calls.identify =
        [this](
            const std::vector<std::string>& devices) -> Result<std::map<std::string, std::string>> {
      const std::scoped_lock lock(mutex);
      looked = devices;
      return ids;
    };
    calls.register_boot = [this](const std::string& own,
                                 const std::vector<ha::NamedLun>& luns) -> Status {
      if (waits_for.valid()) waits_for.wait();
      const std::scoped_lock lock(mutex);
      EXPECT_EQ(own, "c1n1/boot");
      asked.push_back(luns.size());
      const bool dead_is_named =
          std::ranges::find(luns, dead, &ha::NamedLun::identification) != luns.end();
      return dead_is_named ? fail(ErrorCode::kUnavailable, "no answer") : answer;
    };
    calls.preempt = [this](const std::string&, const std::string& victim,
                           const std::vector<ha::NamedLun>& luns) -> Result<std::string> {
      const std::scoped_lock lock(mutex);
      ++preemptions;
      if (!preempted) return tl::unexpected<Error>(preempted.error());
      return victim + " is cut off from " + luns.front().device;
    };
    subject.emplace(calls, "c1n1/boot", [this] { ++changes; });
  }
  void answers(Status with) {
    const std::scoped_lock lock(mutex);
    answer = std::move(with);
  }
  std::size_t times_asked() {
    const std::scoped_lock lock(mutex);
    return asked.size();
  }
  // Until the condition holds.
  template <class Condition>
  bool soon(Condition condition) {
    for (int i = 0; i < 2'000 && !condition(); ++i) ::usleep(1'000);
    return condition();
  }
  ErrorCode refused(const LunNames& luns) {
    const Status checked = subject->check(luns);
    EXPECT_FALSE(checked);
    return checked ? ErrorCode::kInternal : checked.error().code;
  }

  cvm::LunFiles files;
  const std::string zero, one;
  std::mutex mutex;
  std::map<std::string, std::string> ids;
  std::vector<std::string> looked;
  std::vector<std::size_t> asked;
  Status answer;
  std::string dead;  // identification of a LUN on which nothing can be registered
  std::shared_future<void> waits_for;
  Status preempted;
  int preemptions = 0;
  std::atomic<int> changes{0};
  std::optional<Reservations> subject;  // last
};

TEST_F(ReservationsTest, NothingStartsBeforeAllIsRegistered) {
  start();
  EXPECT_EQ(refused({}), ErrorCode::kUnavailable);
  EXPECT_NE(subject->error(), "");
  subject->follow(kTwo, {zero, one});
  EXPECT_TRUE(subject->wait(kTwo, kSoonMs));
  EXPECT_TRUE(subject->check({}));
  EXPECT_EQ(subject->error(), "");
  EXPECT_EQ(subject->registered_times(), 1u);
  EXPECT_EQ(asked, std::vector<std::size_t>{2});
  EXPECT_TRUE(soon([&] { return changes == 1; }));
  // The same again is nothing new.
  subject->follow(kTwo, {zero, one});
  EXPECT_TRUE(subject->check(kTwo));
  EXPECT_EQ(times_asked(), 1u);
}

TEST_F(ReservationsTest, WithoutSuchLunsThereIsNothingToDo) {
  start();
  subject->follow({}, {zero});
  EXPECT_TRUE(subject->check({}));
  EXPECT_EQ(subject->error(), "");
  EXPECT_EQ(times_asked(), 0u);
}

TEST_F(ReservationsTest, AFailureIsToldAndTriedAgain) {
  answer = fail(ErrorCode::kUnavailable, "LUN1: no answer");
  start();
  subject->follow(kTwo, {zero, one});
  ASSERT_TRUE(soon([&] { return subject->error().find("LUN1: no answer") != std::string::npos; }));
  EXPECT_EQ(refused({}), ErrorCode::kUnavailable) << "not even what is on other LUNs";
  EXPECT_EQ(refused(kOne), ErrorCode::kUnavailable);
  answers({});
  subject->follow(kOne, {zero, one});  // another wish: at once
  EXPECT_TRUE(subject->wait(kOne, kSoonMs));
}

TEST_F(ReservationsTest, ALunThatIsNotVisibleKeepsNoOtherFromBeingRegistered) {
  ids.erase(one);
  start();
  subject->follow(kTwo, {zero, one});
  ASSERT_TRUE(soon([&] { return subject->error().starts_with("lun LUN1 (lab.LUN1): no device"); }))
      << subject->error();
  EXPECT_NE(subject->error().find("symnas lun release LUN1 --forget"), std::string::npos);
  EXPECT_TRUE(subject->check(kOne));
  EXPECT_EQ(subject->registered_times(), 1u) << "its label can be read";
  EXPECT_EQ(refused(kTwo), ErrorCode::kUnavailable);
  EXPECT_EQ(subject->preempt("c1n2/boot2", kTwo).error().code, ErrorCode::kUnavailable);
}

TEST_F(ReservationsTest, ALunThatIsDeadKeepsNoOtherFromBeingRegistered) {
  dead = "lab.LUN0";
  start();
  subject->follow(kTwo, {zero, one});
  ASSERT_TRUE(soon([&] { return subject->error().starts_with("lun LUN0 at " + zero); }))
      << subject->error();
  EXPECT_NE(subject->error().find("symnas lun release LUN0 --forget"), std::string::npos);
  EXPECT_TRUE(subject->check({{"lab.LUN1", "LUN1"}}));
  EXPECT_EQ(refused(kOne), ErrorCode::kUnavailable);
  // It is forgotten.
  subject->follow({{"lab.LUN1", "LUN1"}}, {zero, one});
  ASSERT_TRUE(soon([&] { return subject->error().empty(); })) << subject->error();
}

// A view without LUNs comes while another look is under way.
TEST_F(ReservationsTest, NothingIsLookedAtWhenThereIsNoLunAnyMore) {
  start();
  subject->follow(kOne, {zero, one});
  ASSERT_TRUE(subject->wait(kOne, kSoonMs));
  std::promise<void> go;
  {
    const std::scoped_lock lock(mutex);
    waits_for = go.get_future().share();
  }
  subject->follow(kTwo, {zero, one});
  ::usleep(5'000);
  subject->doubt();
  subject->follow({}, {zero});
  go.set_value();
  ::usleep(20'000);
  const std::scoped_lock lock(mutex);
  EXPECT_EQ(std::ranges::count(asked, 0u), 0);
}

// A LUN that was copied: labels and data are on the copy, which nobody has reserved.
TEST_F(ReservationsTest, ALabelOnAnotherDeviceIsNotRegistered) {
  start();
  subject->follow(kOne, {zero, one});
  ASSERT_TRUE(subject->wait(kOne, kSoonMs));
  EXPECT_TRUE(subject->check_device("lab.LUN0", "LUN0", zero));
  EXPECT_FALSE(subject->check_device("lab.LUN0", "LUN0", one));
  ASSERT_TRUE(soon([&] { return times_asked() == 2; })) << "it is looked for anew";
  ASSERT_TRUE(soon([&] { return subject->error().empty(); }));
  for (int i = 0; i < 3; ++i) {
    const Status checked = subject->check_device("lab.LUN0", "LUN0", one);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(checked.error().message.find("a copy of the LUN?"), std::string::npos);
  }
  ::usleep(5'000);
  EXPECT_EQ(times_asked(), 2u) << "once";
}

// Its path has gone, and it has come back as another node.
TEST_F(ReservationsTest, ADeviceThatHasMovedIsFoundAnew) {
  start();
  subject->follow(kOne, {zero, one});
  ASSERT_TRUE(subject->wait(kOne, kSoonMs));
  {
    const std::scoped_lock lock(mutex);
    ids = {{one, "lab.LUN0"}};
  }
  EXPECT_EQ(*subject->preempt("c1n2/boot2", kOne), "c1n2/boot2 is cut off from " + one);
  EXPECT_FALSE(subject->check_device("lab.LUN0", "LUN0", one));
  ASSERT_TRUE(soon([&] { return subject->check_device("lab.LUN0", "LUN0", one).has_value(); }));
}

TEST_F(ReservationsTest, AFencerThatDoesNotSeeALunProvesNothing) {
  start();
  subject->follow(kOne, {zero, one});
  ASSERT_TRUE(subject->wait(kOne, kSoonMs));
  {
    const std::scoped_lock lock(mutex);
    ids.clear();
  }
  EXPECT_EQ(subject->preempt("c1n2/boot2", kOne).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(preemptions, 0);
  ASSERT_TRUE(soon([&] { return !subject->error().empty(); })) << "it looks anew, and says so";
}

TEST_F(ReservationsTest, TwoDevicesOfOneLunAreRefused) {
  ids[one] = "lab.LUN0";
  start();
  subject->follow(kOne, {zero, one});
  ASSERT_TRUE(soon([&] { return subject->error().ends_with("both have its identification"); }))
      << subject->error();
  EXPECT_EQ(times_asked(), 0u);
}

TEST_F(ReservationsTest, ANewLunLeavesTheOthersUsable) {
  start();
  subject->follow(kOne, {zero, one});
  ASSERT_TRUE(subject->wait(kOne, kSoonMs));
  answers(fail(ErrorCode::kUnavailable, "LUN1: no answer"));
  subject->follow(kTwo, {zero, one});
  ASSERT_TRUE(soon([&] { return subject->error().find("LUN1: no answer") != std::string::npos; }));
  EXPECT_TRUE(subject->check(kOne));
  EXPECT_EQ(refused(kTwo), ErrorCode::kUnavailable);
  EXPECT_EQ(subject->preempt("c1n2/boot2", kTwo).error().code, ErrorCode::kUnavailable);
}

TEST_F(ReservationsTest, AFencedBootRegistersNothingAgain) {
  answer = fail(ErrorCode::kPermission, "its key is gone");
  start();
  subject->follow(kTwo, {zero, one});
  ASSERT_TRUE(soon([&] { return refused(kTwo) == ErrorCode::kPermission; }));
  EXPECT_EQ(subject->check({}).error().message,
            "c1n1/boot: its key is gone (reboot this head: its next boot registers and serves "
            "again)");
  answers({});
  subject->follow(kOne, {zero});
  subject->doubt();
  EXPECT_EQ(refused(kOne), ErrorCode::kPermission);
  EXPECT_EQ(subject->preempt("c1n2/boot2", kOne).error().code, ErrorCode::kPermission);
  EXPECT_EQ(times_asked(), 1u);
}

TEST_F(ReservationsTest, ADoubtFindsThatTheKeyIsGone) {
  start();
  subject->follow(kTwo, {zero, one});
  ASSERT_TRUE(subject->wait(kTwo, kSoonMs));
  subject->doubt();
  ASSERT_TRUE(soon([&] { return times_asked() == 2; }));
  EXPECT_TRUE(subject->check(kTwo)) << "it was there";
  answers(fail(ErrorCode::kPermission, "its key is gone"));
  subject->doubt();
  ASSERT_TRUE(soon([&] { return !subject->check(kTwo); }));
  EXPECT_EQ(refused(kTwo), ErrorCode::kPermission);
}

TEST_F(ReservationsTest, ADoubtThatFindsNothingOutChangesNothing) {
  start();
  subject->follow(kTwo, {zero, one});
  ASSERT_TRUE(subject->wait(kTwo, kSoonMs));
  answers(fail(ErrorCode::kUnavailable, "LUN1 hangs"));
  subject->doubt();
  ASSERT_TRUE(soon([&] { return subject->error().find("LUN1 hangs") != std::string::npos; }));
  EXPECT_TRUE(subject->check(kTwo));
}

TEST_F(ReservationsTest, PreemptsWhatItIsRegisteredOn) {
  start();
  EXPECT_EQ(subject->preempt("c1n2/boot2", kOne).error().code, ErrorCode::kUnavailable);
  subject->follow(kTwo, {zero, one});
  ASSERT_TRUE(subject->wait(kTwo, kSoonMs));
  EXPECT_EQ(*subject->preempt("c1n2/boot2", kTwo), "c1n2/boot2 is cut off from " + zero);
  EXPECT_EQ(subject->preempt("c1n2/boot2", {}).error().code, ErrorCode::kUnavailable)
      << "about no LUN nothing is proved";
}

TEST_F(ReservationsTest, AFencerThatFindsItsOwnKeyGoneLooksAnew) {
  start();
  subject->follow(kTwo, {zero, one});
  ASSERT_TRUE(subject->wait(kTwo, kSoonMs));
  {
    const std::scoped_lock lock(mutex);
    preempted = fail(ErrorCode::kPermission, "our key is missing");
    answer = fail(ErrorCode::kPermission, "its key is gone");
  }
  EXPECT_EQ(subject->preempt("c1n2/boot2", kTwo).error().code, ErrorCode::kPermission);
  ASSERT_TRUE(soon([&] { return !subject->check(kTwo); }));
}

}  // namespace
}  // namespace symnas::vnfsd::daemon

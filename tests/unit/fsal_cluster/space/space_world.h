// SpaceTest: a Space of one mount beside another one, which does what the test says.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/space/limits.h"
#include "fsal_cluster/space/space.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {

// Runs its jobs when the test says so.
class ManualBackground final : public Background {
 public:
  explicit ManualBackground(env::ManualClock& clock) : clock_(clock) {}
  void post(std::function<void()> job) override { post_at(clock_.mono_ns(), std::move(job)); }
  void post_at(std::int64_t mono_ns, std::function<void()> job) override {
    jobs_.emplace(mono_ns, std::move(job));
  }
  void stop() override { jobs_.clear(); }
  void run_due() {
    while (!jobs_.empty() && jobs_.begin()->first <= clock_.mono_ns()) {
      auto job = std::move(jobs_.begin()->second);
      jobs_.erase(jobs_.begin());
      job();
    }
  }

 private:
  env::ManualClock& clock_;
  std::multimap<std::int64_t, std::function<void()>> jobs_;
};

inline constexpr MountId kOther{99};
inline constexpr std::uint64_t kGroup = 256;

class SpaceTest : public testing::Test {
 protected:
  SpaceOptions options() {
    SpaceOptions out;
    out.fs = world.fs();
    out.mount = world.context().mount;
    out.group_blocks = kGroup;
    out.volume_blocks = [this] { return groups * kGroup; };
    out.return_reservations = [] { return false; };
    out.frees_pending = [] { return false; };
    out.membership = &membership;
    out.peers = &peers;
    out.lost_group = [this](const Error& error) { lost = error; };
    return out;
  }
  SpaceTest() {
    peers.on_image({{kv::keys::mount(world.fs(), kOther), "", Revision{1}, Revision{1}, 1}},
                   Revision{1});
    space = std::move(*Space::open(world.session(), clock, background, options()));
  }
  // Puts the heartbeat of the other mount.
  void announce(std::int64_t quiesced, std::int64_t allocated_blocks = 0,
                bool needs_space = false) {
    records::HeartbeatRecord record;
    record.set_needs_space(needs_space);
    record.set_quiesced(static_cast<std::uint64_t>(quiesced));
    record.set_allocated_blocks(allocated_blocks);
    kv::WatchEvent event{false,
                         {kv::keys::heartbeat(world.fs(), kOther), record.SerializeAsString(),
                          Revision{quiesced}, Revision{quiesced}, 1}};
    peers.on_events({event}, Revision{quiesced});
  }
  static constexpr std::int64_t kAll = 1'000'000;
  void owned_by(MountId owner, std::uint64_t first, std::uint64_t end) {
    records::GroupOwner record;
    record.set_mount(owner.value());
    kv::Mutation mutation;
    for (std::uint64_t group = first; group < end; ++group)
      mutation.writes.push_back(
          kv::put(kv::keys::group_owner(world.fs(), static_cast<std::uint32_t>(group)),
                  record.SerializeAsString()));
    ASSERT_TRUE(world.session().commit_blocking(std::move(mutation))->succeeded);
  }
  MountId owner_of(std::uint32_t group) {
    records::GroupOwner record;
    const auto value =
        world.session().range(kv::single_key(kv::keys::group_owner(world.fs(), group)), 1);
    if (value->kvs.empty()) return MountId{0};
    EXPECT_TRUE(record.ParseFromString(value->kvs.front().value));
    return MountId{record.mount()};
  }
  std::uint32_t own_groups() {
    std::uint32_t count = 0;
    for (std::uint32_t group = 0; group < groups; ++group)
      if (owner_of(group) == world.context().mount) ++count;
    return count;
  }
  // Lets the space own `count` groups, all of them free, whatever it would have claimed by itself.
  void claim(std::uint32_t count) {
    std::vector<BlockRun> all;
    while (own_groups() < count) {
      ASSERT_EQ(make_room(kSharedRoomWaitMs * 1'000'000), Space::Room::kMaybe);
      while (const auto run = space->allocate({.blocks = kGroup})) all.push_back(*run);
      background.run_due();
    }
    for (const BlockRun& run : all) space->give_back(run);
  }
  // Both groups belonged to a mount that has ended.
  void owned_before(MountId ended) {
    records::GroupOwner owner;
    owner.set_mount(ended.value());
    kv::Mutation mutation;
    mutation.writes = {kv::put(kv::keys::group_owner(world.fs(), 0), owner.SerializeAsString()),
                       kv::put(kv::keys::group_owner(world.fs(), 1), owner.SerializeAsString()),
                       kv::put(kv::keys::mount_ended(world.fs(), ended), "killed")};
    ASSERT_TRUE(world.session().commit_blocking(std::move(mutation)));
    space.reset();
    space = std::move(*Space::open(world.session(), clock, background, options()));
  }
  // Lets time pass until the answer is there, for 5 s at most.
  void poll_for(const std::optional<Space::Room>& answer) {
    for (int i = 0; i < 1000 && !answer; ++i) {
      clock.advance_ns(kRoomPollMs * 1'000'000);
      background.run_due();
    }
  }

  // The outcome of make_room() while time passes.
  std::optional<Space::Room> make_room(std::int64_t span_ns = 0) {
    auto answer = std::make_shared<std::optional<Space::Room>>();
    space->make_room([answer](Result<Space::Room> room) { *answer = *room; });
    const std::int64_t end_ns = clock.mono_ns() + span_ns;
    for (;;) {
      background.run_due();
      if (*answer || clock.mono_ns() >= end_ns) return *answer;
      clock.advance_ns(kRoomPollMs * 1'000'000);
    }
  }
  void record(BlockRun run) {
    records::ReverseMap extent;
    extent.set_ino(17);
    extent.set_blocks(static_cast<std::uint32_t>(run.blocks));
    kv::Mutation mutation;
    mutation.writes = {kv::put(space->reverse_key(run.start), extent.SerializeAsString())};
    ASSERT_TRUE(world.session().commit_blocking(std::move(mutation)));
  }
  void erase(BlockRun run) {
    kv::Mutation mutation;
    mutation.writes = {kv::erase(space->reverse_key(run.start))};
    ASSERT_TRUE(world.session().commit_blocking(std::move(mutation)));
  }

  std::uint64_t groups = 2;
  std::optional<Error> lost;
  World world;
  env::ManualClock clock;
  ManualBackground background{clock};
  Membership membership{Membership::Mode::kShared};
  Peers peers{world.fs(), world.context().mount};
  std::unique_ptr<Space> space;
};

}  // namespace symnas::fs

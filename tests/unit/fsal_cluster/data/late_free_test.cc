// Events that come late: the end of a free, and one of two sweeps of one trim. Each has lost
// acknowledged data once.
#include <future>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "common/kv/keys.h"
#include "tests/unit/fsal_cluster/data/file_world.h"

namespace symnas::fs::test {
namespace {

// A file is removed. Before removed() runs, the group of its blocks is loaded, and all of it is
// handed out.
TEST(LateRelease, BlocksAreNotHandedOutTwice) {
  FileWorld world;
  world.start();
  world.create(Ino{10});
  ASSERT_TRUE(world.write(Ino{10}, 0, std::string(1 << 20, 'a')));
  ASSERT_TRUE(world.commit(Ino{10}));
  world.close_cleanly();
  world.start();  // the groups of the first mount are ours, not loaded
  auto removal = world.data().plan_removal(world.handle(Ino{10}), world.inode(Ino{10}));
  ASSERT_TRUE(removal);
  kv::Mutation mutation;
  mutation.compares = removal->compares;
  mutation.writes = removal->writes;
  mutation.writes.push_back(kv::erase(kv::keys::inode(FileWorld::kFs, Ino{10})));
  ASSERT_TRUE(world.session().commit_blocking(std::move(mutation))->succeeded);
  world.create(Ino{11});
  std::string other;
  for (int i = 0; i < 12; ++i) other += std::string(1 << 20, static_cast<char>('A' + i));
  ASSERT_TRUE(world.write(Ino{11}, 0, other));
  ASSERT_TRUE(world.commit(Ino{11}));
  world.data().removed(std::move(*removal));
  world.settle();
  world.create(Ino{12});
  (void)world.write(Ino{12}, 0, std::string(3 << 20, 'c'));  // may well find the volume full
  EXPECT_TRUE(*world.read(Ino{11}, 0, other.size()) == other) << "one file overwrote another";
}

// Two threads finish a trim at once. One gets the answer to its range read only when the trim is
// over and new data is in place.
TEST(LateTrim, SparesWhatWasWrittenSince) {
  FileWorld world;
  world.start();
  const Ino ino{20};
  world.create(ino);
  for (const std::uint64_t chunk : {0, 20, 25})
    ASSERT_TRUE(world.write(ino, chunk * kMapChunkBytes, std::string(4096, 'o')));
  ASSERT_TRUE(world.commit(ino));
  ASSERT_TRUE(world.data().set_size(world.handle(ino), 4096, MtimeIs::kOfTheChange, nullptr));
  ASSERT_TRUE(world.inode(ino).has_trim_block());
  records::Orphan orphan;
  const auto left = world.session().range(kv::single_key(kv::keys::orphan(FileWorld::kFs, ino)), 1);
  ASSERT_TRUE(orphan.ParseFromString(left->kvs.at(0).value));
  std::promise<void> reached;
  std::promise<void> go;
  std::thread late([&] {
    bool first = true;
    world.session().before_range_on_this_thread([&] {
      if (!std::exchange(first, false)) return;
      reached.set_value();
      go.get_future().get();
    });
    const Status swept = world.data().sweep_orphan(ino, orphan);
    EXPECT_TRUE(swept) << swept.error().message;
    world.session().before_range_on_this_thread(nullptr);
  });
  reached.get_future().get();
  const std::string fresh(4096, 'n');
  ASSERT_TRUE(world.write(ino, 2 * kMapChunkBytes, fresh));
  ASSERT_TRUE(world.commit(ino));
  EXPECT_FALSE(world.inode(ino).has_trim_block());
  go.set_value();
  late.join();
  world.settle();
  world.kill();
  world.start();
  EXPECT_TRUE(*world.read(ino, 2 * kMapChunkBytes, fresh.size()) == fresh)
      << "committed data is gone";
}

}  // namespace
}  // namespace symnas::fs::test

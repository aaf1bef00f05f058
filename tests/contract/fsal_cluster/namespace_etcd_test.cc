// The namespace operations on a real etcd: the same runs as on the in-memory store must give the
// same answers.
#include <gtest/gtest.h>

#include "fsal_cluster/schema/filesystem.h"
#include "tests/contract/etcd_cluster.h"
#include "tests/unit/fsal_cluster/ops/namespace_run.h"

namespace symnas::fs {
namespace {

using kv::testing::EtcdCluster;
using kv::testing::EtcdClusterOptions;

constexpr std::int64_t kDeadlineMs = 20'000;

class NamespaceOnEtcd : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = EtcdCluster::missing(); !why.empty()) GTEST_SKIP() << why;
    cluster_ = std::make_unique<EtcdCluster>(EtcdClusterOptions{});
    auto store = kv::EtcdStore::open(cluster_->client_options());
    ASSERT_TRUE(store) << store.error().message;
    store_ = std::move(*store);
    const auto serving = EtcdCluster::wait_until_serving(*store_, kDeadlineMs);
    ASSERT_TRUE(serving) << serving.error().message;
    format_for_test(*store_, "u04");
  }
  std::unique_ptr<EtcdCluster> cluster_;
  std::unique_ptr<kv::EtcdStore> store_;
};

TEST_F(NamespaceOnEtcd, AnswersAndTreeAreTheModels) {
  World world(*store_, "u04");
  run_against_model(world, 1, 500);
}

TEST_F(NamespaceOnEtcd, ThreadsLeaveATree) {
  World world(*store_, "u04");
  run_threads(world, 1, 8, 100);
}

TEST_F(NamespaceOnEtcd, RemovalDeletesEverything) {
  FsId fs;
  {
    World world(*store_, "u04");
    fs = world.fs();
    for (int i = 0; i < 50; ++i) world.create(world.root(), "f" + std::to_string(i));
    kv::Mutation end;
    end.writes = {kv::put(kv::keys::mount_ended(fs, world.context().mount), "")};
    ASSERT_TRUE(world.session().commit_blocking(end));
  }
  ASSERT_TRUE(remove_filesystem(*store_, "u04", {}));
  const auto left =
      kv::range_blocking(*store_, kv::prefix_range(kv::keys::filesystem(fs)), 1, kDeadlineMs);
  ASSERT_TRUE(left);
  EXPECT_TRUE(left->kvs.empty());
}

}  // namespace
}  // namespace symnas::fs

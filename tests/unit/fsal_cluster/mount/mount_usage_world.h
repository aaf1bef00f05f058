// Mounts whose usage is counted: what inode records say, and what quotas do.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <span>
#include <thread>

#include "common/kv/usage_keys.h"
#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/quota/exemption.h"
#include "fsal_cluster/quota/quota_admin.h"
#include "fsal_cluster/quota/tree_admin.h"
#include "fsal_cluster/schema/filesystem.h"
#include "fsal_cluster/state/mount_end.h"
#include "tests/support/jumping_clock.h"
#include "tests/support/sim_volume.h"
#include "tests/unit/fsal_cluster/ops/world.h"

namespace symnas::fs {

using test::JumpingClock;
using test::SimDisk;
using test::SimVolume;

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class MountUsageTest : public testing::Test {
 protected:
  // Small groups, so that each mount finds some.
  MountUsageTest() {
    const std::string key = kv::keys::kFilesystems + "u04";
    const auto read = kv::range_blocking(*formatted.store, kv::single_key(key), 1, 1000);
    records::FilesystemRecord record;
    EXPECT_TRUE(record.ParseFromString(read->kvs.at(0).value));
    record.set_group_blocks(kFormatGroupBlocksMin);
    kv::Txn txn;
    txn.success = {kv::put(key, record.SerializeAsString())};
    EXPECT_TRUE(kv::txn_blocking(*formatted.store, txn, 1000));
  }
  std::unique_ptr<Mount> open(std::uint32_t vnfs) {
    MountOptions options = mount_options(formatted.fs, ++epoch, vnfs);
    options.on_ended = [](Error) {};
    auto mount =
        Mount::open(*formatted.store, clock,
                    std::make_shared<SimVolume>(disk, SimVolume::Mode::kImmediate), options);
    EXPECT_TRUE(mount) << mount.error().message;
    return mount ? std::move(*mount) : nullptr;
  }
  static bool eventually(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  QuotaReport report() { return *read_quotas(*formatted.store, formatted.fs); }
  void turn_on() {
    ASSERT_TRUE(switch_quotas(*formatted.store, formatted.fs, QuotaSwitch::kOn));
    ASSERT_TRUE(eventually([&] {
      clock.jump_ns(1'000'000'000);
      return report().mode.state() == records::QuotaMode::ON;
    }));
  }
  void limit(Subject subject, LimitEdit edit) {
    ASSERT_TRUE(set_limit(*formatted.store, formatted.fs, subject, edit));
  }
  // What the counted inode records say.
  Usages by_inodes() {
    const auto all = kv::range_blocking(
        *formatted.store, kv::prefix_range(kv::keys::table(formatted.fs, 'w', 'I')), 0, 1000);
    const std::uint32_t counted = report().mode.epoch();
    Usages out;
    for (const kv::KeyValue& kv : all->kvs) {
      records::Inode inode;
      EXPECT_TRUE(inode.ParseFromString(kv.value));
      if (inode.usage_epoch() == counted) add(out, subjects_of(inode), usage_of(inode));
    }
    return out;
  }
  Usages recorded() {
    Usages out;
    for (const auto& [subject, row] : report().rows) add(out, subject, row.used);
    return out;
  }
  // Of trees that exist.
  Usages counted() {
    Usages out = by_inodes();
    const QuotaReport now = report();
    std::erase_if(out, [&](const auto& of) {
      return of.first.kind == SubjectKind::kTree && !now.trees.contains(of.first.id);
    });
    return out;
  }
  // Removed files go in the background, between two reads, too.
  void expect_exact() {
    if (eventually([&] { return recorded() == counted(); })) return;
    EXPECT_EQ(recorded(), counted());
  }
  Usage used(Subject subject) { return recorded()[subject]; }

  Handle root() const { return Handle{formatted.fs, kRootIno, Generation{1}}; }
  void open_root() {
    SetAttributes changes;
    changes.mode = 0777;
    ASSERT_TRUE(first->setattr(kRoot, root(), changes));
  }
  static Result<Handle> create(Mount& mount, const Credentials& who, const Handle& dir,
                               const std::string& name) {
    const auto made = mount.create(who, dir, name, CreateMode::kGuarded, 0, {});
    if (!made) return tl::unexpected(made.error());
    return made->attributes.handle;
  }
  static Status write(Mount& mount, const Handle& file, std::uint64_t at, std::size_t bytes,
                      WriteStability wanted = WriteStability::kUnstable) {
    const std::string data(bytes, 'x');
    std::promise<Status> answer;
    mount.write(file, FileOffset{at}, std::as_bytes(std::span(data)), wanted,
                [&](Result<WriteResult> result) {
                  answer.set_value(result ? Status() : tl::unexpected(result.error()));
                });
    return answer.get_future().get();
  }
  static Status commit(Mount& mount, const Handle& file) {
    std::promise<Status> answer;
    mount.commit(file, [&](Status status) { answer.set_value(std::move(status)); });
    return answer.get_future().get();
  }
  template <class T>
  static ErrorCode code(const Result<T>& result) {
    return result ? ErrorCode::kInternal : result.error().code;
  }

  Formatted formatted;
  JumpingClock clock;
  std::uint64_t epoch = 0;
  std::shared_ptr<SimDisk> disk =
      std::make_shared<SimDisk>(std::uint64_t{256} << 20, std::byte{0xEE});
  std::unique_ptr<Mount> first;
  const Credentials ann{1001, 2001, {}};
  const Credentials bob{1002, 2001, {}};
  const Subject of_ann{SubjectKind::kUser, 1001};
  const Subject of_bob{SubjectKind::kUser, 1002};
};

}  // namespace symnas::fs

#include "tests/sim/tree_work.h"

#include <span>
#include <utility>

#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/quota/quota_admin.h"
#include "fsal_cluster/quota/tree_admin.h"
#include "tests/sim/data_calls.h"
#include "tests/sim/tree_check.h"

namespace symnas::sim {

namespace {

const fs::Credentials kRoot{};
constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kReadyNsMax = 300'000 * kNsPerMs;

std::string pick_name() { return std::string(1, static_cast<char>('a' + below(4))); }

}  // namespace

TreeWork::TreeWork(Heads& heads, Process& people)
    : heads_(heads), store_(people, heads.first().server_ptr(), nullptr, 100'000) {}

void TreeWork::prepare(int clients) {
  MountWorld& world = heads_.first();
  world.call(world.epoch(), [&](fs::Mount& mount) {
    for (int i = 0; i < clients; ++i) {
      const auto found = mount.lookup(world.root(), "c" + std::to_string(i));
      if (!found) fail("no directory of a client");
      roots_.push_back(found->handle);
    }
    const auto make = [&](const fs::Handle& in, const std::string& name) {
      const auto made = mount.mkdir(kRoot, in, name, {});
      if (!made) fail("no directory for trees");
      directories_.push_back(made->attributes.handle);
      return made->attributes.handle;
    };
    for (int i = 0; i < 3; ++i) {
      const fs::Handle tree = make(world.root(), "t" + std::to_string(i));
      const fs::Handle in_it = make(tree, "a");
      make(in_it, "b");
      if (i < 2) roots_.push_back(tree);
      roots_.push_back(in_it);
    }
  });
  const auto mode = [this] {
    const auto report = fs::read_quotas(store_, heads_.first().fs());
    return report ? report->mode.state() : fs::records::QuotaMode::OFF;
  };
  // Mostly trees are marked at once, seldom after the faults.
  while (below(64) != 0 && mode() != fs::records::QuotaMode::ON) sleep_ns(200 * kNsPerMs);
}

void TreeWork::change_names(std::uint64_t operations) {
  for (std::uint64_t i = 0; i < operations; ++i) {
    MountWorld& world = heads_[heads_.pick(below(heads_.size()))];
    world.call(world.epoch(), [this](fs::Mount& mount) { one(mount); });
    if (below(8) == 0) sleep_ns(static_cast<std::int64_t>(below(1'000)) * kNsPerMs);
  }
}

void TreeWork::one(fs::Mount& mount) {
  const fs::Handle from = any_directory();
  const fs::Handle to = below(3) == 0 ? from : any_directory();
  const std::string name = pick_name();
  switch (below(12)) {
    case 0:
    case 1:
    case 2:
      if (const auto made = mount.mkdir(kRoot, from, name, {}); made)
        directories_.push_back(made->attributes.handle);
      return;
    case 3:
    case 4:
      if (const auto made = mount.create(kRoot, from, name, fs::CreateMode::kGuarded, 0, {}); made)
        files_.push_back(made->attributes.handle);
      return;
    case 5:
      if (files_.empty()) return;
      if (below(2) == 0) return write(mount, files_[below(files_.size())]);
      if (below(3) == 0) {
        const fs::Handle file = files_[below(files_.size())];
        linked_.insert(file.ino.value());
        static_cast<void>(mount.link(kRoot, file, to, name));
      }
      return;
    case 6: static_cast<void>(mount.unlink(kRoot, from, name)); return;
    case 7: static_cast<void>(mount.rmdir(kRoot, from, name)); return;
    default: static_cast<void>(mount.rename(kRoot, from, name, to, pick_name())); return;
  }
}

void TreeWork::write(fs::Mount& mount, const fs::Handle& file) {
  const std::string data(4096 * (1 + below(4)), 't');
  Waiting<fs::WriteResult> waiting;
  const auto stable = below(2) == 0 ? fs::WriteStability::kFileSync : fs::WriteStability::kUnstable;
  mount.write(file, FileOffset{4096 * below(8)}, std::as_bytes(std::span(data)), stable,
              waiting.callback());
  static_cast<void>(waiting.get());
}

void TreeWork::change_trees(std::uint64_t changes) {
  const FsId fs = heads_.first().fs();
  for (std::uint64_t i = 0; i < changes; ++i) {
    sleep_ns(static_cast<std::int64_t>(below(below(3) == 0 ? 4'000 : 200)) * kNsPerMs);
    const fs::Handle root = roots_[below(roots_.size())];
    trace_ready();
    const auto there = fs::find_tree(store_, fs, root.ino, "/tree");
    if (there && below(2) == 0) {
      static_cast<void>(fs::remove_tree(store_, fs, *there));
      trace("tree %u is removed", *there);
    } else {
      const auto made = fs::add_tree(store_, fs, root.ino, "/tree");
      if (made) trace("inode %llu is tree %u", (unsigned long long)root.ino.value(), *made);
    }
  }
}

void TreeWork::trace_ready() {
  const auto report = fs::read_quotas(store_, heads_.first().fs());
  if (!report) return;
  for (const auto& [number, tree] : report->trees)
    trace("tree %u is %s", number,
          tree.state() == fs::records::QuotaTree::READY ? "ready" : "being marked");
}

void TreeWork::wait_ready() {
  const std::int64_t end_ns = now_ns() + kReadyNsMax;
  for (;;) {
    const auto report = fs::read_quotas(store_, heads_.first().fs());
    if (!report) fail("quotas cannot be read: " + report.error().message);
    std::string waits;
    for (const auto& [number, tree] : report->trees) {
      if (tree.state() != fs::records::QuotaTree::READY) waits = std::to_string(number);
    }
    if (waits.empty()) return;
    if (now_ns() > end_ns) fail("trees: tree " + waits + " is not marked after five minutes");
    sleep_ns(200 * kNsPerMs);
  }
}

std::string TreeWork::check() {
  return check_trees(heads_.first().server(), heads_.first().fs(), linked_);
}

}  // namespace symnas::sim

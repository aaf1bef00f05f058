#include "tests/unit/fsal_cluster/ops/namespace_run.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "common/base/bytes.h"
#include "common/env/random.h"
#include "fsal_cluster/check/checker.h"
#include "fsal_cluster/ops/create.h"
#include "fsal_cluster/ops/getattr.h"
#include "fsal_cluster/ops/link.h"
#include "fsal_cluster/ops/lookup.h"
#include "fsal_cluster/ops/mkdir.h"
#include "fsal_cluster/ops/readdir.h"
#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/ops/rmdir.h"
#include "fsal_cluster/ops/setattr.h"
#include "fsal_cluster/ops/symlink.h"
#include "fsal_cluster/ops/unlink.h"
#include "fsal_cluster/ops/xattrs.h"
#include "tests/unit/fsal_cluster/ops/namespace_model.h"

namespace symnas::fs {
namespace {

using OpError = NamespaceModel::OpError;
using Id = NamespaceModel::Id;

template <class T>
OpError answer_of(const Result<T>& result) {
  return result ? OpError() : OpError(result.error().code);
}

std::string text(const OpError& answer) {
  return answer ? std::string(to_string(*answer)) : std::string("ok");
}

NewNode plain(FileType type) {
  NewNode node;
  node.type = type;
  node.attributes.mode = 0644;
  node.symlink_target = "target";
  return node;
}

Result<Created> add(Context& context, const Handle& dir, const std::string& name, FileType type) {
  switch (type) {
    case FileType::kDirectory: return mkdir(context, kRoot, dir, name, plain(type));
    case FileType::kSymlink: return symlink(context, kRoot, dir, name, plain(type));
    default: return create(context, kRoot, dir, name, CreateMode::kGuarded, 0, plain(type));
  }
}

// One run: the model beside the handles of the real nodes.
class ModelRun {
 public:
  ModelRun(World& world, std::uint64_t seed) : world_(world), random_(seed) {
    handles_.push_back(world.root());
  }

  // Does one random operation. Returns its name for the message; the caller compares the answers.
  std::string step(OpError& expected, OpError& actual) {
    switch (random_.below(12)) {
      case 0:
      case 1: return step_add(expected, actual);
      case 2: return step_create(expected, actual);
      case 3: return step_link(expected, actual);
      case 4: return step_unlink(expected, actual);
      case 5: return step_rmdir(expected, actual);
      case 6:
      case 7: return step_rename(expected, actual);
      case 8: return step_chmod(expected, actual);
      case 9: return step_set_xattr(expected, actual);
      case 10: return step_remove_xattr(expected, actual);
      default: return step_lookup(expected, actual);
    }
  }

  void compare_trees() {
    for (Id id = 0; id < model_.size(); ++id) {
      const auto seen = getattr(world_.context(), handles_[id]);
      ASSERT_EQ(seen.has_value(), model_.nlink(id) > 0) << "node " << id;
      if (!seen) continue;
      EXPECT_EQ(seen->type, model_.type(id));
      EXPECT_EQ(seen->nlink, model_.nlink(id)) << "node " << id;
      if (id != 0) {
        EXPECT_EQ(seen->mode, model_.mode(id));
      }
      if (model_.type(id) == FileType::kDirectory) compare_names(id);
      compare_xattrs(id);
    }
  }

 private:
  void compare_names(Id dir) {
    std::vector<std::string> expected;
    for (const auto& [name, id] : model_.entries(dir)) expected.push_back(name);
    EXPECT_EQ(world_.names(handles_[dir]), expected) << "directory " << dir;
  }
  void compare_xattrs(Id id) {
    std::map<std::string, std::string> seen;
    const auto names = list_xattrs(world_.context(), kRoot, handles_[id], 0);
    ASSERT_TRUE(names);
    for (const XattrName& name : *names)
      seen[name.name] = get_xattr(world_.context(), kRoot, handles_[id], name.name).value_or("?");
    EXPECT_EQ(seen, model_.xattrs(id)) << "node " << id;
  }
  // Mostly one of the first nodes, sometimes any node: removed ones, and files as directories, too.
  Id pick() {
    return random_.below(4) == 0 ? random_.below(model_.size())
                                 : random_.below(std::min<Id>(model_.size(), 6));
  }
  std::string name() { return std::string(1, static_cast<char>('a' + random_.below(6))); }
  void added(const Result<Created>& made) {
    if (made && handles_.size() < model_.size()) handles_.push_back(made->attributes.handle);
  }

  std::string step_add(OpError& expected, OpError& actual) {
    const FileType type = random_.below(3) == 0   ? FileType::kSymlink
                          : random_.below(2) == 0 ? FileType::kDirectory
                                                  : FileType::kRegular;
    const Id dir = pick();
    const std::string what = name();
    expected = model_.add(dir, what, type);
    const auto made = add(world_.context(), handles_[dir], what, type);
    actual = answer_of(made);
    added(made);
    return "add " + what;
  }
  std::string step_create(OpError& expected, OpError& actual) {
    const Id dir = pick();
    const std::string what = name();
    Id found = 0;
    expected = model_.create_unchecked(dir, what, found);
    const auto made = create(world_.context(), kRoot, handles_[dir], what, CreateMode::kUnchecked,
                             0, plain(FileType::kRegular));
    actual = answer_of(made);
    added(made);
    if (made) {
      EXPECT_EQ(made->attributes.handle, handles_[found]);
    }
    return "create " + what;
  }
  std::string step_link(OpError& expected, OpError& actual) {
    const Id target = pick();
    const Id dir = pick();
    const std::string what = name();
    expected = model_.link(target, dir, what);
    actual = answer_of(link(world_.context(), kRoot, handles_[target], handles_[dir], what));
    return "link " + what;
  }
  std::string step_unlink(OpError& expected, OpError& actual) {
    const Id dir = pick();
    const std::string what = name();
    expected = model_.unlink(dir, what);
    actual = answer_of(unlink(world_.context(), kRoot, handles_[dir], what));
    return "unlink " + what;
  }
  std::string step_rmdir(OpError& expected, OpError& actual) {
    const Id dir = pick();
    const std::string what = name();
    expected = model_.rmdir(dir, what);
    actual = answer_of(rmdir(world_.context(), kRoot, handles_[dir], what));
    return "rmdir " + what;
  }
  std::string step_rename(OpError& expected, OpError& actual) {
    const Id from = pick();
    const Id to = pick();
    const std::string from_name = name();
    const std::string to_name = name();
    expected = model_.rename(from, from_name, to, to_name);
    actual = answer_of(
        rename(world_.context(), kRoot, handles_[from], from_name, handles_[to], to_name));
    return "rename " + from_name + " " + to_name;
  }
  std::string step_chmod(OpError& expected, OpError& actual) {
    const Id node = pick();
    SetAttributes changes;
    changes.mode = 0600 + static_cast<std::uint32_t>(random_.below(8));
    expected = model_.chmod(node, *changes.mode);
    actual = answer_of(setattr(world_.context(), kRoot, handles_[node], changes));
    return "chmod";
  }
  std::string step_set_xattr(OpError& expected, OpError& actual) {
    const Id node = pick();
    const std::string what = name();
    const std::string value(random_.below(20), static_cast<char>('0' + random_.below(10)));
    const auto option = static_cast<XattrOption>(random_.below(3));
    expected = model_.set_xattr(node, what, value, option);
    actual = answer_of(set_xattr(world_.context(), kRoot, handles_[node], what, value, option));
    return "set attribute " + what;
  }
  std::string step_remove_xattr(OpError& expected, OpError& actual) {
    const Id node = pick();
    const std::string what = name();
    expected = model_.remove_xattr(node, what);
    actual = answer_of(remove_xattr(world_.context(), kRoot, handles_[node], what));
    return "remove attribute " + what;
  }
  std::string step_lookup(OpError& expected, OpError& actual) {
    const Id dir = pick();
    const std::string what = random_.below(4) == 0 ? ".." : name();
    Id found = 0;
    expected = model_.lookup(dir, what, found);
    const auto seen = lookup(world_.context(), handles_[dir], what);
    actual = answer_of(seen);
    if (seen && !expected) {
      EXPECT_EQ(seen->handle, handles_[found]);
    }
    return "lookup " + what;
  }

  World& world_;
  env::SeededRandom random_;
  NamespaceModel model_;
  std::vector<Handle> handles_;  // by model id
};

// One thread of run_threads: any operation on a few directories.
void act(World& world, std::uint64_t seed, int steps) {
  env::SeededRandom random(seed);
  Context& context = world.context();
  const auto name = [&] { return std::string(1, static_cast<char>('a' + random.below(4))); };
  const auto directory = [&] {
    Handle at = world.root();
    for (std::uint64_t depth = random.below(3); depth > 0; --depth) {
      const auto below = lookup(context, at, name());
      if (below && below->type == FileType::kDirectory) at = below->handle;
    }
    return at;
  };
  for (int i = 0; i < steps; ++i) {
    const Handle dir = directory();
    OpError answer;
    switch (random.below(9)) {
      case 0: answer = answer_of(add(context, dir, name(), FileType::kDirectory)); break;
      case 1: answer = answer_of(add(context, dir, name(), FileType::kRegular)); break;
      case 2: answer = answer_of(unlink(context, kRoot, dir, name())); break;
      case 3: answer = answer_of(rmdir(context, kRoot, dir, name())); break;
      case 4: {
        const auto target = lookup(context, dir, name());
        if (target) answer = answer_of(link(context, kRoot, target->handle, directory(), name()));
        break;
      }
      case 5: {
        const std::string value(random.below(9), 'v');
        answer = answer_of(set_xattr(context, kRoot, dir, name(), value, XattrOption::kEither));
        break;
      }
      case 6: answer = answer_of(remove_xattr(context, kRoot, dir, name())); break;
      default: answer = answer_of(rename(context, kRoot, dir, name(), directory(), name()));
    }
    if (answer) {
      EXPECT_NE(*answer, ErrorCode::kInternal);
    }
    if (answer) {
      EXPECT_NE(*answer, ErrorCode::kCorrupt);
    }
  }
}

// The filesystem's records by kind.
struct Records {
  std::map<std::uint64_t, records::Inode> inodes;
  std::vector<std::uint64_t> times;
  std::map<std::uint64_t, std::vector<std::pair<std::string, std::uint64_t>>> names;
  int orphans = 0;
};

Records read_records(World& world) {
  Records out;
  const auto all = kv::range_blocking(
      world.store(), kv::prefix_range(kv::keys::filesystem(world.fs())), 0, 10'000);
  for (const kv::KeyValue& kv : all->kvs) {
    if (kv.key.size() < 16) continue;
    const std::uint64_t id = read_be64(kv.key, 8);
    if (kv.key.substr(6, 2) == "wI") out.inodes[id].ParseFromString(kv.value);
    if (kv.key.substr(6, 2) == "wT") out.times.push_back(id);
    if (kv.key.substr(6, 2) == "uO") ++out.orphans;
    if (kv.key.substr(6, 2) == "wD") {
      records::DirentBucket bucket;
      bucket.ParseFromString(kv.value);
      EXPECT_GT(bucket.entries_size(), 0) << "an empty bucket is deleted";
      for (const auto& entry : bucket.entries())
        out.names[id].emplace_back(entry.name(), entry.ino());
    }
  }
  return out;
}

void walk(const Records& records, std::uint64_t dir,
          std::map<std::uint64_t, std::uint32_t>& links) {
  const auto names = records.names.find(dir);
  if (names == records.names.end()) return;
  for (const auto& [name, ino] : names->second) {
    const auto inode = records.inodes.find(ino);
    ASSERT_NE(inode, records.inodes.end()) << name << " names inode " << ino << " that is gone";
    ++links[ino];
    if (inode->second.type() != 2) continue;
    EXPECT_EQ(inode->second.parent(), dir) << "directory " << ino;
    ASSERT_EQ(links[ino], 1u) << "directory " << ino << " has two names";
    walk(records, ino, links);
  }
}

// The product's own check must agree.
void expect_no_finding(World& world) {
  const auto filesystems =
      kv::range_blocking(world.store(), kv::prefix_range(kv::keys::kFilesystems), 0, 10'000);
  ASSERT_TRUE(filesystems);
  check::Context context;
  for (const kv::KeyValue& kv : filesystems->kvs) {
    records::FilesystemRecord record;
    ASSERT_TRUE(record.ParseFromString(kv.value));
    if (record.fsid() == world.fs().value()) context.filesystem = record;
  }
  context.volume_blocks = context.filesystem.group_blocks();
  check::Checker checker(context);
  for (const kv::KeyRange& range : check::ranges_in_order(world.fs())) {
    const auto read = kv::range_blocking(world.store(), range, 0, 10'000);
    ASSERT_TRUE(read);
    for (const kv::KeyValue& kv : read->kvs) checker.take(kv);
  }
  checker.finish();
  for (const check::Finding& finding : checker.findings().kept())
    ADD_FAILURE() << check::word(finding.kind) << " inode " << finding.ino.value() << ": "
                  << finding.text;
}

}  // namespace

void run_against_model(World& world, std::uint64_t seed, int steps) {
  ModelRun run(world, seed);
  for (int i = 0; i < steps; ++i) {
    OpError expected;
    OpError actual;
    const std::string what = run.step(expected, actual);
    ASSERT_EQ(text(actual), text(expected)) << "seed " << seed << " step " << i << ": " << what;
  }
  world.stop_faults();
  run.compare_trees();
  check_tree(world);
}

void run_threads(World& world, std::uint64_t seed, int threads, int steps) {
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i)
    running.emplace_back([&world, seed, steps, i] {
      act(world, seed * 100 + static_cast<std::uint64_t>(i), steps);
    });
  for (std::thread& thread : running) thread.join();
  world.stop_faults();
  SCOPED_TRACE("seed " + std::to_string(seed));
  check_tree(world);
}

void check_tree(World& world) {
  const Records records = read_records(world);
  std::map<std::uint64_t, std::uint32_t> links;
  ASSERT_NO_FATAL_FAILURE(walk(records, kRootIno.value(), links));
  links[kRootIno.value()] = 1;
  for (const auto& [ino, inode] : records.inodes)
    EXPECT_EQ(inode.nlink(), links[ino]) << "inode " << ino << ": names reachable from the root";
  for (const auto& [dir, names] : records.names)
    EXPECT_TRUE(links.contains(dir)) << "names in directory " << dir << " that is gone";
  for (const std::uint64_t dir : records.times)
    EXPECT_TRUE(records.inodes.contains(dir)) << "content times without directory " << dir;
  EXPECT_EQ(records.orphans, 0);
  expect_no_finding(world);
}

}  // namespace symnas::fs

#include "tests/unit/fsal_cluster/check/populate.h"

#include <string>
#include <utility>

#include "common/base/check.h"
#include "fsal_cluster/ops/rename.h"
#include "fsal_cluster/state/file_locks.h"

namespace symnas::fs::test {
namespace {

template <class T>
T must(Result<T> result) {
  CHECK(result.has_value(), result ? "" : result.error().message);
  return std::move(*result);
}
void must(Status status) { CHECK(status.has_value(), status ? "" : status.error().message); }

}  // namespace

void populate(Mount& mount, const WriteStable& write) {
  const Handle root{mount.fsid(), kRootIno, Generation{1}};
  const auto mkdir = [&](const Handle& dir, const std::string& name) {
    return must(mount.mkdir(kSuper, dir, name, {})).attributes.handle;
  };
  const auto create = [&](const Handle& dir, const std::string& name) {
    return must(mount.create(kSuper, dir, name, CreateMode::kGuarded, 0, {})).attributes.handle;
  };
  const Handle a = mkdir(root, "a");
  const Handle b = mkdir(a, "b");
  const Handle c = mkdir(b, "c");
  const Handle small = create(a, "small");
  write(small, 0, 10'000);
  must(mount.link(kSuper, small, c, "again"));
  must(mount.set_xattr(kSuper, small, "one", "1", XattrOption::kEither));
  must(mount.set_xattr(kSuper, small, "two", "22", XattrOption::kEither));
  must(mount.set_xattr(kSuper, c, "of.c", "", XattrOption::kEither));
  const Handle large = create(b, "large");
  for (int i = 0; i < 3; ++i) write(large, static_cast<std::uint64_t>(i) << 20, 1 << 20);
  const Handle holes = create(b, "holes");
  write(holes, 0, 4096);
  write(holes, std::uint64_t{70} << 20, 8192);
  write(holes, std::uint64_t{3} << 20, 512);
  create(c, "empty");
  NewNode link;
  link.symlink_target = "../small";
  must(mount.symlink(kSuper, c, "soft", link));
  NewNode fifo;
  fifo.type = FileType::kFifo;
  must(mount.mknod(kSuper, c, "fifo", fifo));
  const Handle cut = create(root, "cut");
  for (int i = 0; i < 2; ++i) write(cut, static_cast<std::uint64_t>(i) << 20, 1 << 20);
  SetAttributes shorter;
  shorter.size_bytes = 5000;
  must(mount.setattr(kSuper, cut, shorter));
  const Handle open = create(root, "open");
  write(open, 0, 4096);
  mount.opened(open);
  must(mount.unlink(kSuper, root, "open"));
  const Handle moved = mkdir(root, "moved");
  must(mount.rename(kSuper, root, "moved", c, "here"));
  const Handle gone = create(moved, "gone");
  must(mount.set_xattr(kSuper, gone, "gone", "too", XattrOption::kEither));
  must(mount.unlink(kSuper, moved, "gone"));
  mkdir(root, "rm");
  must(mount.rmdir(kSuper, root, "rm"));
  const LockOwner oracle{LockProtocol::kNlm, "dbhost", "1"};
  CHECK(must(mount.locks().lock(small.ino, oracle, {0, 99, LockMode::kExclusive}, false)).granted);
}

}  // namespace symnas::fs::test

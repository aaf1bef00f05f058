#include "fsal_cluster/ops/directory_change.h"

#include <utility>

#include "common/kv/keys.h"
#include "fsal_cluster/ops/nodes.h"

namespace symnas::fs {

kv::Op touch(FsId fs, Ino directory, std::int64_t now_ns) {
  records::DirectoryTimes times;
  times.set_time_ns(now_ns);
  return kv::put(kv::keys::directory_times(fs, directory), times.SerializeAsString());
}

Pre pre_of(int attempt, const DirectoryTurn& turn) {
  return attempt == 0 && turn.stay.sole() && turn.flight.alone() ? Pre::kExact : Pre::kUnknown;
}

DirectoryChange change_of(Context& context, const Directory& before, std::int64_t now_ns,
                          const kv::Committed& committed, Pre pre) {
  DirectoryChange out;
  if (pre == Pre::kExact && !committed.shared_parent) out.pre = attributes_of(context.fs, before);
  Directory after = before;
  after.times.emplace();
  after.times->set_time_ns(now_ns);
  after.times_mod_revision = committed.revision;
  if (committed.shared_parent) {  // the put that won carried another operation's time
    const auto cached =
        context.session.peek(kv::keys::directory_times(context.fs, before.node.ino));
    if (cached && cached->mod_revision == committed.revision) {
      auto shared = parse_directory(before.node, *cached);
      if (shared) after = std::move(*shared);
    }
  }
  out.post = attributes_of(context.fs, after);
  return out;
}

DirectoryChange no_change(const Context& context, const Directory& directory) {
  const Attributes same = attributes_of(context.fs, directory);
  return DirectoryChange{same, same};
}

void sweep_times(Context& context, Ino directory) {
  const std::string inode = kv::keys::inode(context.fs, directory);
  const std::string times = kv::keys::directory_times(context.fs, directory);
  // The outcome does not matter: a record that stays is ignored.
  static_cast<void>(retry_conflicts(context, [&](int) -> Status {
    // Reads, and does not only look into the cache: a lost reply makes the cache forget the keys.
    SYMNAS_ASSIGN(const auto found, context.session.read({inode, times}));
    if (found[0].value || !found[1].value) return {};  // the operation failed for another reason
    kv::Mutation mutation;
    mutation.growth = kv::Growth::kMustGo;
    mutation.compares = {kv::key_absent(inode)};
    mutation.writes = {kv::erase(times)};
    SYMNAS_ASSIGN(const auto swept, commit(context, std::move(mutation)));
    static_cast<void>(swept);
    return {};
  }));
}

}  // namespace symnas::fs

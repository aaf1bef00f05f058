#include "vnfsd/daemon/admin/locks_admin.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "fsal_cluster/check/dump.h"
#include "fsal_cluster/state/lock_admin.h"
#include "vnfsd/api/limits.h"
#include "vnfsd/api/locks.h"
#include "vnfsd/daemon/admin/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

using nlohmann::json;

struct Found {
  std::string filesystem;
  FsId fs;
  std::vector<fs::LockEntry> locks;
};

// The inode of the filter's path goes into the filter.
Status resolve_path(kv::Store& store, api::LockFilter& filter) {
  if (filter.path.empty()) return {};
  SYMNAS_ASSIGN(fs::check::View view, fs::check::View::open(store, filter.filesystem));
  SYMNAS_ASSIGN(filter.ino, fs::check::resolve(view, filter.path));
  return {};
}

struct Matching {
  std::vector<Found> found;  // by filesystem
  bool more = false;         // there are more than were asked for
};

// Memory is bounded by what matches: what does not goes page by page.
Result<Matching> find_locks(kv::Store& store, const ClusterView& view, api::LockFilter filter,
                            std::size_t most) {
  if (!filter.vnfs.empty()) SYMNAS_TRY(find(view.vnfses, "vnfs", filter.vnfs));
  if (!filter.filesystem.empty()) SYMNAS_TRY(find(view.filesystems, "fs", filter.filesystem));
  SYMNAS_TRY(resolve_path(store, filter));
  Matching out;
  std::size_t count = 0;
  for (const auto& [name, filesystem] : view.filesystems) {
    if (!filter.filesystem.empty() && filter.filesystem != name) continue;
    Found found{name, FsId{filesystem.record.fsid()}, {}};
    SYMNAS_TRY(fs::for_each_lock(store, found.fs, [&](fs::LockEntry lock) {
      if (!api::matches(filter, lock)) return true;
      out.more = ++count > most;
      if (!out.more) found.locks.push_back(std::move(lock));
      return !out.more;
    }));
    out.found.push_back(std::move(found));
    if (out.more) break;
  }
  return out;
}

std::string count_of(std::size_t locks, const std::string& filesystem, const char* what) {
  return fmt::format("fs {}: locks of {} {} {}", filesystem, locks, locks == 1 ? "owner" : "owners",
                     what);
}

}  // namespace

Result<json> LocksAdmin::locks(const api::LockFilter& filter) {
  SYMNAS_ASSIGN(const ClusterView cluster, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const Matching all, find_locks(head_.store, cluster, filter, api::kLocksListed));
  json out = json::array();
  for (const Found& found : all.found) {
    for (const fs::LockEntry& lock : found.locks)
      out.push_back(api::lock_document(found.filesystem, filter.path, lock, head_.clock.wall_ns()));
  }
  return json{{"locks", std::move(out)}, {"more", all.more}};
}

Result<std::string> LocksAdmin::clear_locks(const api::LockFilter& filter, Mode mode) {
  if (!filter.narrows())
    return fail(ErrorCode::kInvalidArgument,
                "lock clear: say whose: a filesystem, VNFS, client or file");
  SYMNAS_ASSIGN(const ClusterView cluster, read_when_ready(head_, reader_));
  SYMNAS_ASSIGN(const Matching all, find_locks(head_.store, cluster, filter, SIZE_MAX));
  std::string done;
  std::string unanswered;
  for (const Found& found : all.found) {
    if (found.locks.empty()) continue;
    if (!done.empty()) done += "\n";
    if (mode == Mode::kDryRun) {
      done += count_of(found.locks.size(), found.filesystem, "would be released");
      continue;
    }
    SYMNAS_ASSIGN(const fs::ClearedLocks cleared,
                  fs::clear_locks(head_.store, head_.clock, found.fs, found.locks,
                                  head_.config.head_name, kLockClearMs));
    done += count_of(cleared.released, found.filesystem, "released");
    if (cleared.changed > 0)
      done += fmt::format("; {} changed by their owners meanwhile stay", cleared.changed);
    for (const std::string& vnfs : cleared.unanswered)
      unanswered += fmt::format("{}vnfs {}", unanswered.empty() ? "" : ", ", vnfs);
  }
  if (!done.empty() && mode == Mode::kCommit) log::warn("cleared by an administrator: {}", done);
  if (!unanswered.empty())
    return fail(ErrorCode::kUnavailable,
                fmt::format("{}: its instance has not released locks within {} s, they stay "
                            "(symnas status says what it does){}{}",
                            unanswered, kLockClearMs / 1000, done.empty() ? "" : "; ", done));
  return done.empty() ? "no lock matches: nothing to do" : done;
}

}  // namespace symnas::vnfsd::daemon

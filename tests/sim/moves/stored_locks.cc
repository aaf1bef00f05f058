#include "tests/sim/moves/stored_locks.h"

#include <algorithm>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

namespace {

using Ranges = google::protobuf::RepeatedPtrField<fs::records::LockRecord::Range>;

bool conflict(const Ranges& one, const Ranges& other) {
  return std::ranges::any_of(one, [&](const auto& mine) {
    return std::ranges::any_of(other, [&](const auto& its) {
      return mine.start() <= its.end() && its.start() <= mine.end() &&
             (mine.exclusive() || its.exclusive());
    });
  });
}

}  // namespace

StoredLocks::StoredLocks(const std::shared_ptr<kv::MemServer>& server, FsId fs)
    : table_(kv::keys::table(fs, 'u', 'L')),
      observer_(server, kv::prefix_range(table_),
                [this](const auto& events, Revision /*revision*/) { take(events); }) {}

void StoredLocks::take(const std::vector<kv::WatchEvent>& events) {
  for (const kv::WatchEvent& event : events) {
    auto& of_inode = stored_[read_be64(event.kv.key, table_.size())];
    if (event.deleted) {
      of_inode.erase(event.kv.key);
    } else if (!of_inode[event.kv.key].ParseFromString(event.kv.value)) {
      fail("records: unreadable lock " + to_hex(event.kv.key));
    }
  }
  for (const kv::WatchEvent& event : events)
    check(read_be64(event.kv.key, table_.size()), event.kv.key);
}

void StoredLocks::check(std::uint64_t ino, const std::string& key) const {
  const auto& of_inode = stored_.at(ino);
  const auto mine = of_inode.find(key);
  if (mine == of_inode.end()) return;
  for (const auto& [other, record] : of_inode) {
    if (other == key || !conflict(mine->second.ranges(), record.ranges())) continue;
    fail("records: inode " + std::to_string(ino) + ": the lock that is recorded of an owner of " +
         mine->second.vnfs() + " conflicts with one of " + record.vnfs());
  }
}

}  // namespace symnas::sim

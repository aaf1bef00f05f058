#include "fsal_cluster/state/life_signs.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/check.h"
#include "common/kv/keys.h"
#include "fsal_cluster/state/mount_end.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

using Heartbeats = std::map<std::pair<FsId, MountId>, Revision>;

Status read_heartbeats(kv::Store& store, Heartbeats& heartbeats) {
  for (auto next = heartbeats.begin(); next != heartbeats.end();) {
    kv::Txn txn;
    auto end = next;
    for (; end != heartbeats.end() && txn.success.size() < kReadKeysMax; ++end)
      txn.success.push_back(kv::get(kv::keys::heartbeat(end->first.first, end->first.second)));
    const std::size_t asked = txn.success.size();
    SYMNAS_ASSIGN(const kv::TxnResult read,
                  kv::txn_blocking(store, std::move(txn), kAdminDeadlineMs));
    CHECK(read.results.size() == asked, "one result per key");
    for (const kv::OpResult& one : read.results) {
      if (!one.kvs.empty()) next->second = one.kvs.front().mod_revision;
      ++next;
    }
  }
  return {};
}

bool have_moved(const LifeSigns& before, const LifeSigns& after) {
  return std::ranges::any_of(after.heartbeats, [&](const auto& now) {
    const auto seen = before.heartbeats.find(now.first);
    return seen == before.heartbeats.end() || seen->second != now.second;
  });
}

}  // namespace

Result<LifeSigns> look_at_life_signs(kv::Store& store, const env::Clock& clock,
                                     const std::vector<std::pair<VnfsId, Epoch>>& vnfses) {
  LifeSigns signs;
  SYMNAS_ASSIGN(const std::vector<MountOf> living, living_mounts(store));
  for (const auto& [vnfs, epoch_max] : vnfses) {
    for (const MountOf& mount : mounts_of(living, vnfs, epoch_max)) {
      signs.heartbeats[{mount.fs, mount.mount.id}] = Revision{};
      const std::int64_t answers_ms = mount.mount.record.answers_ms();
      if (answers_ms == 0) signs.answers_ms.reset();
      if (signs.answers_ms) signs.answers_ms = std::max(*signs.answers_ms, answers_ms);
    }
  }
  SYMNAS_TRY(read_heartbeats(store, signs.heartbeats));
  signs.seen_ns = clock.mono_ns();
  return signs;
}

std::optional<std::int64_t> silent_from_ns(const LifeSigns* before, const LifeSigns& after) {
  if (!after.answers_ms) return std::nullopt;
  // The clocks of both may be wrong by a tenth (docs/design.md 8): one is slow, the other fast.
  const std::int64_t answers_ns = *after.answers_ms * 1'000'000 / 9 * 11 + 1'000'000;
  const bool unmoved = before != nullptr && !have_moved(*before, after);
  return (unmoved ? before->seen_ns : after.seen_ns) + answers_ns;
}

}  // namespace symnas::fs

#include "fsal_cluster/state/waits.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/types/limits.h"

namespace symnas::fs {
namespace {

// Whether the mount that holds `token` has to answer `want`.
bool has_to_answer(const records::WantRecord& want, const records::TokenRecord& token) {
  return want.kind() == records::WantRecord::X || token.mode() == records::TokenRecord::X;
}

Status add_mounts(kv::Store& store, FsId fs, kv::OpResult mounts, const kv::OpResult& heartbeats,
                  Waits& waits) {
  SYMNAS_TRY(read_other_mounts(store, fs, mounts));
  if (heartbeats.more) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("filesystem id {}: more than {} heartbeats of mounts", fs.value(),
                            kMountPageKeys));
  }
  std::map<MountId, Revision> heartbeat_of;
  const std::size_t prefix = kv::keys::heartbeats(fs).size();
  for (const kv::KeyValue& kv : heartbeats.kvs) {
    if (kv.key.size() == prefix + 8)
      heartbeat_of[MountId{read_be64(kv.key, prefix)}] = kv.mod_revision;
  }
  SYMNAS_ASSIGN(std::vector<MountEntry> entries, parse_mounts(fs, mounts));
  for (MountEntry& entry : entries) {
    if (!entry.alive()) continue;
    const Revision heartbeat = heartbeat_of[entry.id];
    waits.mounts.push_back({std::move(entry), heartbeat});
  }
  return {};
}

}  // namespace

Result<Waits> look_at_waits(kv::Store& store, FsId fs, std::int64_t deadline_ms) {
  kv::Txn look;
  look.success = {kv::get_range(kv::prefix_range(kv::keys::mounts(fs)), kMountPageKeys),
                  kv::get_range(kv::prefix_range(kv::keys::heartbeats(fs)), kMountPageKeys),
                  kv::get_range(kv::prefix_range(kv::keys::wants(fs)), kWantsLookedAt * 4),
                  kv::get(kv::keys::solo(fs)), kv::get(kv::keys::want_solo(fs))};
  SYMNAS_ASSIGN(kv::TxnResult seen, kv::txn_blocking(store, std::move(look), deadline_ms));
  CHECK(seen.results.size() == 5, "one result per range");
  Waits waits;
  SYMNAS_TRY(add_mounts(store, fs, std::move(seen.results[0]), seen.results[1], waits));

  const auto& solo = seen.results[3].kvs;
  const auto& want_solo = seen.results[4].kvs;
  if (!solo.empty() && !want_solo.empty()) {
    const MountId holder{std::strtoull(solo[0].value.c_str(), nullptr, 10)};
    waits.wants.push_back({want_solo[0].key, want_solo[0].mod_revision, {}, {holder}});
  }

  auto& wants = seen.results[2].kvs;
  std::sort(wants.begin(), wants.end(), [](const kv::KeyValue& a, const kv::KeyValue& b) {
    return a.mod_revision < b.mod_revision;
  });
  if (wants.size() > kWantsLookedAt) wants.resize(kWantsLookedAt);
  if (wants.empty()) return waits;
  const std::size_t prefix = kv::keys::wants(fs).size();
  kv::Txn holders;
  for (const kv::KeyValue& want : wants) {
    const Ino ino{read_be64(want.key, prefix)};
    holders.success.push_back(
        kv::get_range(kv::prefix_range(kv::keys::token_prefix(fs, ino)), kMountPageKeys));
  }
  SYMNAS_ASSIGN(const kv::TxnResult held, kv::txn_blocking(store, std::move(holders), deadline_ms));
  CHECK(held.results.size() == wants.size(), "one result per range");
  const std::size_t token_prefix = kv::keys::token_prefix(fs, Ino{1}).size();
  for (std::size_t i = 0; i < wants.size(); ++i) {
    SYMNAS_ASSIGN(const auto want, parse_record<records::WantRecord>(wants[i].value, "a want"));
    Waits::Want out{wants[i].key, wants[i].mod_revision, MountId{want.mount()}, {}};
    for (const kv::KeyValue& kv : held.results[i].kvs) {
      const MountId holder{read_be64(kv.key, token_prefix)};
      SYMNAS_ASSIGN(const auto token, parse_record<records::TokenRecord>(kv.value, "a token"));
      if (holder != out.by && has_to_answer(want, token)) out.holders.push_back(holder);
    }
    waits.wants.push_back(std::move(out));
  }
  return waits;
}

}  // namespace symnas::fs

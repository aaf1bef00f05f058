#include "vnfsd/daemon/upkeep/upkeep.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/kv/keys.h"
#include "vnfsd/daemon/head/limits.h"
#include "vnfsd/daemon/upkeep/limits.h"
#include "vnfsd/daemon/upkeep/members.h"

namespace symnas::vnfsd::daemon {
namespace {

using Role = kv::StoreMember::Role;

}  // namespace

Upkeep::Upkeep(const UpkeepParts& parts, std::stop_token end)
    : parts_(parts),
      head_(parts.head),
      look_ms_(kv::quota_look_ms(parts.quota.quota_bytes())),
      usual_(head_.config.etcd.compact_keep_s * 1000, head_.config.etcd.compact_keep_revisions),
      tight_(kTightKeepMs, kTightKeepRevisions),
      agent_check_(parts.head, parts.reader, parts.means),
      loop_(std::move(end)) {}

void Upkeep::start() {
  loop_.start(look_ms_, [this] { look(); });
}

// Discards history every compact_interval_s; while etcd's quota runs out, at every look all but the
// last seconds of it: each removal adds history, and only compaction gives its pages back.
void Upkeep::look() {
  write_events();
  std::int64_t now_ms = head_.clock.mono_ns() / 1'000'000;
  if (now_ms - looked_ms_ < look_ms_) return;
  looked_ms_ = now_ms;
  look_at_quota();
  if (now_ms - members_ms_ >= kMembersLookMs) {
    members_ms_ = now_ms;
    look_at_members();
    agent_check_.look();
  }
  now_ms = head_.clock.mono_ns() / 1'000'000;
  const bool short_of_space = parts_.quota.level() != kv::QuotaLevel::kFree;
  if (short_of_space || now_ms >= next_ms_) {
    next_ms_ = now_ms + head_.config.etcd.compact_interval_s * 1000;
    discard_history(now_ms, short_of_space ? tight_ : usual_);
  }
}

void Upkeep::write_events() {
  while (parts_.reader.is_ready() && parts_.events.write_one()) {
  }
}

void Upkeep::look_at_quota() {
  const kv::QuotaLevel before = parts_.quota.level();
  parts_.quota.look(head_.store.status({}));
  if (parts_.quota.level() == before) return;
  log::warn("etcd: {} permille of its quota of {} bytes are in use: level {} (was {})",
            parts_.quota.in_use_permille(), parts_.quota.quota_bytes(),
            kv::name_of(parts_.quota.level()), kv::name_of(before));
  parts_.events.tell(event::kQuota,
                     fmt::format("etcd: {} per cent of its quota are in use: level {} (was {})",
                                 parts_.quota.in_use_permille() / 10,
                                 kv::name_of(parts_.quota.level()), kv::name_of(before)));
}

void Upkeep::discard_history(std::int64_t now_ms, Compaction& compaction) {
  kv::Txn txn;
  txn.success.push_back(kv::get(kv::keys::kCluster));
  const auto read = kv::txn_blocking(head_.store, std::move(txn), kStoreDeadlineMs);
  if (!read) return;
  const auto discard = compaction.tick(now_ms, read->revision);
  if (!discard) return;
  // Another head may have been faster; whatever fails is done by the next turn.
  const Status done = head_.store.compact(*discard, {});
  if (!done) log::debug("etcd: compaction: {}", done.error().message);
}

void Upkeep::look_at_members() {
  if (parts_.membership == nullptr) return;
  auto members = parts_.membership->members();
  if (!members) return;
  for (kv::StoreMember& member : *members) {
    if (member.role != Role::kLearner || member.name.empty()) continue;
    const Status promoted = parts_.membership->promote(member.id);
    if (promoted) {
      member.role = Role::kVoter;
      log::info("etcd: member {} has caught up and votes from now on", member.name);
    } else {
      log::debug("etcd: member {}: {}", member.name, promoted.error().message);
    }
  }
  const std::vector<std::string> now =
      endpoints_for(*members, head_.config.head_address, head_.config.head_name);
  if (now.empty() ||
      std::is_permutation(now.begin(), now.end(), head_.config.etcd.endpoints.begin(),
                          head_.config.etcd.endpoints.end()))
    return;
  log::info("etcd: its members are {} now", fmt::join(now, ", "));
  if (parts_.endpoints_changed) parts_.endpoints_changed(now);
}

}  // namespace symnas::vnfsd::daemon

#include "fsal_cluster/state/lock_waits.h"

#include <algorithm>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "common/kv/lock_keys.h"
#include "fsal_cluster/state/lock_record.h"
#include "fsal_cluster/state/lock_waits.pb.h"
#include "fsal_cluster/state/nlm_client.h"

namespace symnas::fs {

std::string lock_wait_key(FsId fs, const std::string& vnfs, const LockWait& wait) {
  const std::string holder = lock_key(fs, wait.ino, vnfs, wait.owner);
  std::string key = kv::keys::lock_waits(fs) + holder.substr(kv::keys::locks(fs).size());
  append_be64(key, wait.range.start);
  append_be64(key, wait.range.end);
  return key;
}

std::string to_wait_record(const std::string& vnfs, const LockWait& wait) {
  records::LockWait record;
  record.set_ino(wait.ino.value());
  record.set_generation(wait.generation.value());
  record.set_vnfs(vnfs);
  record.set_protocol(wait.owner.protocol == LockProtocol::kNlm ? records::LockWait::NLM
                                                                : records::LockWait::NFS4);
  record.set_client(wait.owner.client);
  record.set_owner(wait.owner.owner);
  record.set_start(wait.range.start);
  record.set_end(wait.range.end);
  record.set_exclusive(wait.range.mode == LockMode::kExclusive);
  record.set_nsm_state(wait.nsm_state);
  record.set_export_id(wait.export_id);
  return record.SerializeAsString();
}

Result<std::optional<LockWait>> parse_wait(const kv::KeyValue& kv, const std::string& vnfs) {
  records::LockWait record;
  if (!record.ParseFromString(kv.value))
    return fail(ErrorCode::kCorrupt,
                "record of a waiting lock " + to_hex(kv.key) + " cannot be parsed");
  if (record.vnfs() != vnfs) return std::optional<LockWait>();
  LockWait wait;
  wait.ino = Ino{record.ino()};
  wait.generation = Generation{record.generation()};
  wait.owner = {
      record.protocol() == records::LockWait::NLM ? LockProtocol::kNlm : LockProtocol::kNfs4,
      record.client(), record.owner()};
  wait.range = {record.start(), record.end(),
                record.exclusive() ? LockMode::kExclusive : LockMode::kShared};
  wait.nsm_state = record.nsm_state();
  wait.export_id = static_cast<std::uint16_t>(record.export_id());
  return std::optional<LockWait>(std::move(wait));
}

void LockWaits::load(const std::string& key, LockWait wait, Revision created) {
  recorded_[key] = {wait, created};
  left_.insert_or_assign(key, Left{std::move(wait), created});
}

std::vector<LockWait> LockWaits::left() const {
  std::vector<const Left*> order;
  for (const auto& [key, left] : left_) order.push_back(&left);
  std::sort(order.begin(), order.end(),
            [](const Left* one, const Left* other) { return one->created < other->created; });
  std::vector<LockWait> out;
  for (const Left* left : order) out.push_back(left->wait);
  return out;
}

std::vector<std::string> LockWaits::left_of_nlm(const std::string& address,
                                                std::optional<std::int32_t> but_state) const {
  std::vector<std::string> keys;
  for (const auto& [key, left] : left_) {
    if (!is_of_nlm_client(left.wait.owner, address)) continue;
    if (but_state && !is_lost_by_notice(left.wait.nsm_state, *but_state)) continue;
    keys.push_back(key);
  }
  return keys;
}

bool LockWaits::begin(const std::string& key, const LockWait& wait) {
  left_.erase(key);
  const auto [found, is_new] = recorded_.try_emplace(key, Recorded{wait, Revision{}});
  const bool differs = found->second.wait != wait;
  found->second.wait = wait;
  return ended_.erase(key) > 0 || is_new || differs;
}

void LockWaits::recorded(const std::string& key, Revision revision) {
  const auto found = recorded_.find(key);
  if (found != recorded_.end() && found->second.created == Revision{})
    found->second.created = revision;
}

std::optional<Revision> LockWaits::since(const std::string& key) const {
  const auto found = recorded_.find(key);
  if (found == recorded_.end() || found->second.created == Revision{}) return std::nullopt;
  return found->second.created;
}

std::optional<Revision> LockWaits::oldest_on(Ino ino) const {
  std::optional<Revision> oldest;
  for (const auto& [key, recorded] : recorded_) {
    if (recorded.wait.ino != ino || recorded.created == Revision{} || ended_.contains(key))
      continue;
    if (!oldest || recorded.created < *oldest) oldest = recorded.created;
  }
  return oldest;
}

void LockWaits::end(const std::string& key) {
  left_.erase(key);
  if (recorded_.contains(key)) ended_.insert(key);
}

void LockWaits::end_left_within(Ino ino, const LockOwner& owner, std::uint64_t start,
                                std::uint64_t end) {
  std::vector<std::string> within;
  for (const auto& [key, left] : left_) {
    const LockWait& wait = left.wait;
    if (wait.ino == ino && wait.owner == owner && wait.range.start >= start &&
        wait.range.end <= end)
      within.push_back(key);
  }
  for (const std::string& key : within) this->end(key);
}

bool LockWaits::owes(Ino ino, const LockOwner& owner) const {
  return std::any_of(ended_.begin(), ended_.end(), [&](const std::string& key) {
    const LockWait& wait = recorded_.at(key).wait;
    return wait.ino == ino && wait.owner == owner;
  });
}

std::vector<std::pair<std::string, Ino>> LockWaits::ended(std::size_t count) const {
  std::vector<std::pair<std::string, Ino>> out;
  for (const std::string& key : ended_) {
    if (out.size() == count) break;
    out.emplace_back(key, recorded_.at(key).wait.ino);
  }
  return out;
}

void LockWaits::erased(const std::string& key) {
  ended_.erase(key);
  recorded_.erase(key);
}

}  // namespace symnas::fs

#include "fsal_cluster/state/peers.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {
namespace {

namespace keys = kv::keys;

MountId decimal_id(const std::string& text) {
  std::uint64_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id);
  return MountId{id};
}

// True when `key` is a key of `table` with `bytes` bytes of ids behind the table's prefix.
bool in_table(const std::string& key, const std::string& table, std::size_t bytes) {
  return key.size() == table.size() + bytes && key.starts_with(table);
}

}  // namespace

kv::SessionOptions::Followed Peers::followed() {
  return {{kv::prefix_range(keys::mounts(fs_)), kv::prefix_range(keys::heartbeats(fs_)),
           kv::single_key(keys::solo(fs_)), kv::single_key(keys::want_solo(fs_)),
           kv::prefix_range(keys::holds(fs_))},
          this};
}

void Peers::on_change(std::function<void()> changed) {
  const MutexLock lock(tell_mutex_);
  changed_ = std::move(changed);
}

void Peers::tell() {
  const MutexLock lock(tell_mutex_);
  if (changed_) changed_();
}

std::optional<Revision> Peers::newest() const {
  const MutexLock lock(mutex_);
  return newest_;
}

bool Peers::lives(MountId id) const {
  const auto found = mounts_.find(id);
  return found != mounts_.end() && found->second.claimed > Revision{0} && !found->second.ended;
}

std::optional<std::vector<MountId>> Peers::living() const {
  const MutexLock lock(mutex_);
  if (!newest_) return std::nullopt;
  std::vector<MountId> out;
  for (const auto& [id, mount] : mounts_)
    if (id != self_ && lives(id)) out.push_back(id);
  return out;
}

bool Peers::has_ended(MountId id) const {
  const MutexLock lock(mutex_);
  return newest_ && !lives(id);
}

std::vector<Peers::Ended> Peers::ended() const {
  const MutexLock lock(mutex_);
  std::vector<Ended> out;
  if (!newest_) return out;
  for (const auto& [id, mount] : mounts_)
    if (id != self_ && mount.ended) out.push_back({id, mount.clean});
  return out;
}

bool Peers::no_others() const {
  const MutexLock lock(mutex_);
  return newest_ && std::all_of(mounts_.begin(), mounts_.end(), [this](const auto& entry) {
           return entry.first == self_ ||
                  (entry.second.claimed == Revision{0} && !entry.second.ended);
         });
}

std::optional<Peers::Solo> Peers::solo() const {
  const MutexLock lock(mutex_);
  return newest_ ? solo_ : std::nullopt;
}

bool Peers::solo_wanted() const {
  const MutexLock lock(mutex_);
  return newest_ && solo_wanted_;
}

template <class Progress>
Revision Peers::slowest(Progress progress) const {
  const MutexLock lock(mutex_);
  if (!newest_) return Revision{0};
  Revision least = *newest_;
  for (const auto& [id, mount] : mounts_)
    if (id != self_ && lives(id)) least = std::min(least, std::max(mount.claimed, progress(mount)));
  return least;
}

Revision Peers::quiesced() const {
  return slowest([](const Mount& mount) { return mount.quiesced; });
}

Revision Peers::looked() const {
  return slowest([](const Mount& mount) { return mount.looked; });
}

std::map<MountId, std::int64_t> Peers::allocated_blocks() const {
  const MutexLock lock(mutex_);
  std::map<MountId, std::int64_t> out;
  for (const auto& [id, mount] : mounts_)
    if (id != self_) out.emplace(id, mount.allocated_blocks);
  return out;
}

bool Peers::someone_needs_space() const {
  const MutexLock lock(mutex_);
  return newest_ &&
         std::any_of(mounts_.begin(), mounts_.end(), [this](const auto& entry) REQUIRES(mutex_) {
           return entry.first != self_ && entry.second.needs_space && lives(entry.first);
         });
}

std::optional<bool> Peers::held_by_others(Ino ino) const {
  const MutexLock lock(mutex_);
  if (!newest_) return std::nullopt;
  for (auto it = holds_.lower_bound({ino, MountId{0}}); it != holds_.end() && it->first == ino;
       ++it)
    if (it->second != self_ && lives(it->second)) return true;
  return false;
}

bool Peers::holds(MountId id, Ino ino) const {
  const MutexLock lock(mutex_);
  return newest_ && holds_.contains({ino, id});
}

void Peers::put_heartbeat(MountId id, const std::string& value) {
  records::HeartbeatRecord record;
  if (!record.ParseFromString(value)) {
    log::warn("heartbeat of mount {}: unreadable", id.value());
    return;
  }
  Mount& mount = mounts_[id];
  mount.quiesced = Revision{static_cast<std::int64_t>(record.quiesced())};
  mount.looked = Revision{static_cast<std::int64_t>(record.looked())};
  mount.allocated_blocks = record.allocated_blocks();
  mount.needs_space = record.needs_space();
}

void Peers::put(const kv::KeyValue& kv) {
  const std::string mounts = keys::mounts(fs_);
  const std::string heartbeats = keys::heartbeats(fs_);
  const std::string holds = keys::holds(fs_);
  if (in_table(kv.key, mounts, 8)) {
    mounts_[MountId{read_be64(kv.key, mounts.size())}].claimed = kv.create_revision;
  } else if (in_table(kv.key, mounts, 9)) {
    Mount& mount = mounts_[MountId{read_be64(kv.key, mounts.size())}];
    records::EndRecord record;
    mount.ended = true;
    mount.clean = record.ParseFromString(kv.value) && record.clean();
  } else if (in_table(kv.key, heartbeats, 8)) {
    put_heartbeat(MountId{read_be64(kv.key, heartbeats.size())}, kv.value);
  } else if (in_table(kv.key, holds, 16)) {
    holds_.emplace(Ino{read_be64(kv.key, holds.size())},
                   MountId{read_be64(kv.key, holds.size() + 8)});
  } else if (kv.key == keys::solo(fs_)) {
    solo_ = Solo{decimal_id(kv.value), kv.mod_revision};
  } else if (kv.key == keys::want_solo(fs_)) {
    solo_wanted_ = true;
  }
}

void Peers::forget_if_empty(MountId id) {
  const auto found = mounts_.find(id);
  if (found->second.claimed == Revision{0} && !found->second.ended) mounts_.erase(found);
}

void Peers::erase(const std::string& key) {
  const std::string mounts = keys::mounts(fs_);
  const std::string holds = keys::holds(fs_);
  if (in_table(key, mounts, 8) || in_table(key, mounts, 9)) {
    const MountId id{read_be64(key, mounts.size())};
    Mount& mount = mounts_[id];
    if (key.size() == mounts.size() + 8) {
      mount.claimed = Revision{0};
    } else {
      mount.ended = false;
    }
    forget_if_empty(id);
  } else if (in_table(key, holds, 16)) {
    holds_.erase({Ino{read_be64(key, holds.size())}, MountId{read_be64(key, holds.size() + 8)}});
  } else if (key == keys::solo(fs_)) {
    solo_.reset();
  } else if (key == keys::want_solo(fs_)) {
    solo_wanted_ = false;
  }
}

void Peers::on_image(const std::vector<kv::KeyValue>& image, Revision at) {
  {
    const MutexLock lock(mutex_);
    mounts_.clear();
    holds_.clear();
    solo_.reset();
    solo_wanted_ = false;
    for (const kv::KeyValue& kv : image) put(kv);
    newest_ = at;
  }
  tell();
}

void Peers::on_events(const std::vector<kv::WatchEvent>& events, Revision newest) {
  {
    const MutexLock lock(mutex_);
    for (const kv::WatchEvent& event : events) {
      if (event.deleted) {
        erase(event.kv.key);
      } else {
        put(event.kv);
      }
    }
    newest_ = newest;
  }
  if (!events.empty()) tell();
}

void Peers::on_lost() {
  {
    const MutexLock lock(mutex_);
    newest_.reset();
  }
  tell();
}

}  // namespace symnas::fs

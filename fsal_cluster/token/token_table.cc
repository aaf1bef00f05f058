#include "fsal_cluster/token/token_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/instance_counters.h"
#include "common/base/log.h"
#include "common/kv/keys.h"

namespace symnas::fs {

kv::SessionOptions::Followed TokenTable::followed() {
  return {{kv::prefix_range(kv::keys::tokens(fs_)), kv::prefix_range(kv::keys::wants(fs_))}, this};
}

TokenSight TokenTable::sight(Ino ino) const {
  const MutexLock lock(mutex_);
  return sight_locked(ino);
}

TokenTable::Holds TokenTable::holds(MountId mount) const {
  const MutexLock lock(mutex_);
  if (!complete_) return Holds::kUnknown;
  return held_.contains(mount) ? Holds::kTokens : Holds::kNothing;
}

TokenSight TokenTable::sight_locked(Ino ino) const {
  TokenSight out;
  out.complete = complete_;
  out.at = at_;
  const auto it = entries_.find(ino);
  if (it == entries_.end()) return out;
  const Entry& entry = it->second;
  out.at = std::max(at_, entry.newest);
  out.want = entry.want;
  out.version = entry.version;
  for (const auto& [mount, token] : entry.tokens) {
    if (mount == mine_) {
      out.mine = true;
      continue;
    }
    out.foreign = true;
    out.foreign_exclusive = out.foreign_exclusive || token.exclusive;
    out.foreign_wrote = out.foreign_wrote || token.wrote;
  }
  return out;
}

void TokenTable::when_changed(Ino ino, const TokenSight& seen, std::function<void()> action) {
  {
    const MutexLock lock(mutex_);
    const TokenSight now = sight_locked(ino);
    if (!stopped_ && now.complete == seen.complete && now.version == seen.version) {
      waiting_.emplace(ino, std::move(action));
      return;
    }
  }
  action();
}

void TokenTable::listen(Listener listener) {
  const MutexLock lock(mutex_);
  listener_ = std::move(listener);
}

void TokenTable::stop() {
  Actions actions;
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    listener_ = nullptr;
    wake_all(actions);
  }
  for (auto& action : actions) action();
}

void TokenTable::wake_all(Actions& actions) {
  for (auto& [ino, action] : waiting_) actions.push_back(std::move(action));
  waiting_.clear();
}

void TokenTable::touch(Ino ino, Entry& entry, Actions& actions) {
  entry.version = ++versions_;
  const auto [begin, end] = waiting_.equal_range(ino);
  for (auto it = begin; it != end; ++it) actions.push_back(std::move(it->second));
  waiting_.erase(begin, end);
  if (entry.want && entry.want->mount != mine_ && listener_) {
    actions.push_back([listener = listener_, ino, want = *entry.want] { listener(ino, want); });
  }
}

void TokenTable::apply_token(Ino ino, MountId mount, const kv::WatchEvent& event) {
  Entry& entry = entries_[ino];
  const std::size_t before = entry.tokens.size();
  records::TokenRecord record;
  if (event.deleted) {
    entry.tokens.erase(mount);
  } else if (record.ParseFromString(event.kv.value)) {
    entry.tokens[mount] = {record.mode() == records::TokenRecord::X, record.wrote()};
    entry.newest = std::max(entry.newest, event.kv.mod_revision);
  } else {  // another mount's token that cannot be read: as strong as there is
    entry.tokens[mount] = {true, true};
    log::error("token of inode {} and mount {}: unreadable", ino.value(), mount.value());
  }
  if (mount == mine_) {
    instance_counters().tokens_held +=
        static_cast<std::int64_t>(entry.tokens.size()) - static_cast<std::int64_t>(before);
  }
  if (entry.tokens.size() > before) ++held_[mount];
  if (entry.tokens.size() < before && --held_[mount] == 0) held_.erase(mount);
}

void TokenTable::apply(const kv::WatchEvent& event, Actions& actions) {
  const std::string tokens = kv::keys::tokens(fs_);
  const std::string wants = kv::keys::wants(fs_);
  const std::string& key = event.kv.key;
  if (key.starts_with(tokens) && key.size() == tokens.size() + 16) {
    const Ino ino{read_be64(key, tokens.size())};
    apply_token(ino, MountId{read_be64(key, tokens.size() + 8)}, event);
    Entry& entry = entries_[ino];
    touch(ino, entry, actions);
    if (entry.tokens.empty() && !entry.want) entries_.erase(ino);
  } else if (key.starts_with(wants) && key.size() == wants.size() + 8) {
    const Ino ino{read_be64(key, wants.size())};
    Entry& entry = entries_[ino];
    records::WantRecord record;
    entry.want.reset();
    if (!event.deleted && record.ParseFromString(event.kv.value))
      entry.want = TokenSight::Want{MountId{record.mount()}, record.kind(), event.kv.mod_revision};
    touch(ino, entry, actions);
    if (entry.tokens.empty() && !entry.want) entries_.erase(ino);
  }
}

void TokenTable::on_image(const std::vector<kv::KeyValue>& image, Revision at) {
  Actions actions;
  {
    const MutexLock lock(mutex_);
    entries_.clear();
    if (const auto own = held_.find(mine_); own != held_.end())
      instance_counters().tokens_held -= static_cast<std::int64_t>(own->second);
    held_.clear();
    complete_ = true;
    at_ = at;
    for (const kv::KeyValue& kv : image) apply(kv::WatchEvent{false, kv}, actions);
    wake_all(actions);
  }
  for (auto& action : actions) action();
}

void TokenTable::on_events(const std::vector<kv::WatchEvent>& events, Revision newest) {
  Actions actions;
  {
    const MutexLock lock(mutex_);
    for (const kv::WatchEvent& event : events) apply(event, actions);
    at_ = newest;
  }
  for (auto& action : actions) action();
}

void TokenTable::on_lost() {
  Actions actions;
  {
    const MutexLock lock(mutex_);
    complete_ = false;
    wake_all(actions);
  }
  for (auto& action : actions) action();
}

}  // namespace symnas::fs

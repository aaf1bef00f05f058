#include "fsal_cluster/quota/usage_table.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/kv/usage_keys.h"

namespace symnas::fs {

kv::SessionOptions::Followed UsageTable::followed() {
  return {{kv::prefix_range(kv::keys::quota_table(fs_))}, this};
}

bool UsageTable::complete() const {
  const MutexLock lock(mutex_);
  return complete_;
}

void UsageTable::when_complete(std::function<void()> action) {
  {
    const MutexLock lock(mutex_);
    if (!complete_ && !stopped_) {
      waiting_.push_back(std::move(action));
      return;
    }
  }
  action();
}

void UsageTable::stop() {
  std::vector<std::function<void()>> actions;
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    actions.swap(waiting_);
  }
  for (auto& action : actions) action();
}

Usage UsageTable::total(const Subject& subject) const {
  const MutexLock lock(mutex_);
  Usage sum;
  if (const auto it = totals_.find(subject); it != totals_.end()) sum = it->second;
  for (const Own& own : unseen_) {
    if (const auto it = own.delta.find(subject); it != own.delta.end()) sum += it->second;
  }
  return sum;
}

std::optional<UsageTable::Limit> UsageTable::limit(const Subject& subject) const {
  const MutexLock lock(mutex_);
  return limit_now(subject);
}

std::optional<UsageTable::Limit> UsageTable::limit_now(const Subject& subject) const {
  if (subject.kind == SubjectKind::kTree) {
    const auto tree = trees_.find(subject.id);
    if (tree == trees_.end() || tree->second.state() != records::QuotaTree::READY)
      return std::nullopt;
  }
  if (const auto own = limits_.find(subject); own != limits_.end())
    return Limit{own->second, own->first};
  const auto each = each_of(subject);
  if (!each) return std::nullopt;
  const auto it = limits_.find(*each);
  return it == limits_.end() ? std::nullopt : std::optional(Limit{it->second, it->first});
}

std::map<Subject, UsageTable::Limit> UsageTable::held() const {
  const MutexLock lock(mutex_);
  std::map<Subject, Limit> out;
  const auto add = [&](const Subject& subject) REQUIRES(mutex_) {
    if (auto limit = limit_now(subject)) out.try_emplace(subject, *std::move(limit));
  };
  for (const auto& [subject, limit] : limits_) {
    if (subject.kind < SubjectKind::kEachUser) add(subject);
  }
  if (!limits_.contains({SubjectKind::kEachUser, 0}) &&
      !limits_.contains({SubjectKind::kEachGroup, 0}))
    return out;
  for (const auto& [subject, usage] : totals_) add(subject);
  return out;
}

std::map<std::uint32_t, records::QuotaTree> UsageTable::trees() const {
  const MutexLock lock(mutex_);
  return trees_;
}

std::optional<std::map<Ino, std::uint32_t>> UsageTable::trees_being_marked() const {
  const MutexLock lock(mutex_);
  if (!complete_) return std::nullopt;
  std::map<Ino, std::uint32_t> out;
  for (const auto& [id, tree] : trees_) {
    if (tree.state() != records::QuotaTree::READY) out[Ino{tree.root()}] = id;
  }
  return out;
}

records::QuotaGrace UsageTable::grace(const Subject& subject) const {
  const MutexLock lock(mutex_);
  const auto it = graces_.find(subject);
  return it == graces_.end() ? records::QuotaGrace() : it->second;
}

std::map<Subject, records::QuotaLimit> UsageTable::limits() const {
  const MutexLock lock(mutex_);
  return limits_;
}

Usages UsageTable::totals() const {
  const MutexLock lock(mutex_);
  return totals_;
}

void UsageTable::changed(Revision at, const Usages& delta) {
  const MutexLock lock(mutex_);
  if (at <= newest_ || delta.empty()) return;
  unseen_.push_back({at, delta});
}

std::vector<UsageTable::ForeignSlot> UsageTable::slots_of_others(
    const std::vector<MountId>& living) const {
  const MutexLock lock(mutex_);
  const std::uint32_t epoch = known_.epoch;
  std::vector<ForeignSlot> out;
  for (const auto& [key, part] : parts_) {
    if (part.key.part != QuotaKey::Part::kSlot || part.key.epoch != epoch) continue;
    if (std::find(living.begin(), living.end(), part.key.mount) != living.end()) continue;
    out.push_back({key, part.usages, part.revision});
  }
  return out;
}

void UsageTable::on_image(const std::vector<kv::KeyValue>& image, Revision at) {
  std::vector<std::function<void()>> actions;
  {
    const MutexLock lock(mutex_);
    limits_.clear();
    graces_.clear();
    trees_.clear();
    parts_.clear();
    totals_.clear();
    known_ = {};
    for (const kv::KeyValue& kv : image) put(kv);
    settle(at);
    complete_ = true;
    actions.swap(waiting_);
  }
  for (auto& action : actions) action();
}

void UsageTable::on_lost() {
  const MutexLock lock(mutex_);
  complete_ = false;
}

void UsageTable::on_events(const std::vector<kv::WatchEvent>& events, Revision newest) {
  const MutexLock lock(mutex_);
  for (const kv::WatchEvent& event : events) {
    if (event.deleted) {
      erase(event.kv.key);
    } else {
      put(event.kv);
    }
  }
  settle(newest);
}

void UsageTable::settle(Revision newest) {
  newest_ = newest;
  mode_.store(pack(known_), std::memory_order_release);
  std::erase_if(unseen_, [newest](const Own& own) { return own.at <= newest; });
  limiting_.store(known_.on() && !limits_.empty(), std::memory_order_release);
}

void UsageTable::count_anew() {
  totals_.clear();
  for (const auto& [key, part] : parts_) {
    if (part.key.epoch == known_.epoch) add(totals_, part.usages);
  }
}

void UsageTable::put(const kv::KeyValue& kv) {
  const auto key = parse_quota_key(fs_, kv.key);
  if (!key) return;
  switch (key->part) {
    case QuotaKey::Part::kMode: {
      records::QuotaMode mode;
      if (!mode.ParseFromString(kv.value)) return;
      known_ = {mode.epoch(), mode.state()};
      count_anew();
      return;
    }
    case QuotaKey::Part::kLimit: {
      records::QuotaLimit limit;
      if (limit.ParseFromString(kv.value)) limits_[key->subject] = limit;
      return;
    }
    case QuotaKey::Part::kGrace: {
      records::QuotaGrace grace;
      if (grace.ParseFromString(kv.value)) graces_[key->subject] = grace;
      return;
    }
    case QuotaKey::Part::kTree: {
      records::QuotaTree tree;
      if (tree.ParseFromString(kv.value)) trees_[key->subject.id] = tree;
      return;
    }
    case QuotaKey::Part::kBase:
    case QuotaKey::Part::kSlot: break;
  }
  auto usages = decode_usage(kv.value);
  if (!usages) {
    log::warn("filesystem {}: a usage record cannot be parsed", fs_.value());
    return;
  }
  erase(kv.key);
  if (key->epoch == known_.epoch) add(totals_, *usages);
  parts_[kv.key] = Part{*key, std::move(*usages), kv.mod_revision};
}

void UsageTable::erase(const std::string& key) {
  if (const auto it = parts_.find(key); it != parts_.end()) {
    if (it->second.key.epoch == known_.epoch) {
      for (const auto& [subject, usage] : it->second.usages) add(totals_, subject, -usage);
    }
    parts_.erase(it);
    return;
  }
  const auto parsed = parse_quota_key(fs_, key);
  if (!parsed) return;
  if (parsed->part == QuotaKey::Part::kLimit) limits_.erase(parsed->subject);
  if (parsed->part == QuotaKey::Part::kGrace) graces_.erase(parsed->subject);
  if (parsed->part == QuotaKey::Part::kTree) trees_.erase(parsed->subject.id);
  if (parsed->part == QuotaKey::Part::kMode) known_ = {};
}

}  // namespace symnas::fs

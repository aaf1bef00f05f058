#include "fsal_cluster/state/share_table.h"

#include <chrono>

#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {

std::string encode_share(const RecordedShare& share) {
  records::ShareRecord record;
  record.set_access(share.mode.access);
  record.set_deny(share.mode.deny);
  record.set_asks(share.asks);
  record.set_complete(share.complete);
  record.set_vnfs(share.vnfs);
  return record.SerializeAsString();
}

std::optional<RecordedShare> parse_share(const std::string& value) {
  records::ShareRecord record;
  constexpr std::uint32_t kAccess = kShareRead | kShareWrite;
  if (!record.ParseFromString(value) || record.access() > kAccess ||
      record.deny() > (kAccess | kShareMandatory))
    return std::nullopt;
  return RecordedShare{
      {static_cast<std::uint8_t>(record.access()), static_cast<std::uint8_t>(record.deny())},
      record.asks(),
      record.complete(),
      record.vnfs()};
}

kv::SessionOptions::Followed ShareTable::followed() {
  return {{kv::prefix_range(kv::keys::shares(fs_))}, this};
}

ShareMode ShareTable::all_opens(const Entry& entry, ShareMode but) {
  const auto bits = [](const Entry::Counts& counts, std::uint8_t without) {
    std::uint8_t out = 0;
    for (std::size_t bit = 0; bit < counts.size(); ++bit)
      if (counts[bit] > (without >> bit & 1U)) out |= static_cast<std::uint8_t>(1U << bit);
    return out;
  };
  return {bits(entry.access, but.access), bits(entry.deny, but.deny)};
}

void ShareTable::recount(Entry& entry, ShareMode before, ShareMode after) {
  const auto change = [](Entry::Counts& counts, std::uint8_t from, std::uint8_t to) {
    for (std::size_t bit = 0; bit < counts.size(); ++bit) {
      if ((from >> bit & 1U) != 0) {
        CHECK(counts[bit] > 0, "every close follows its open");
        --counts[bit];
      }
      if ((to >> bit & 1U) != 0) ++counts[bit];
    }
  };
  change(entry.access, before.access, after.access);
  change(entry.deny, before.deny, after.deny);
}

void ShareTable::forget_if_idle(Ino ino) {
  const auto found = entries_.find(ino);
  if (found != entries_.end() && found->second.is_idle()) entries_.erase(found);
}

ShareTable::Tried ShareTable::try_change(Ino ino, ShareMode before, ShareMode after) {
  const MutexLock lock(mutex_);
  Entry& entry = entries_[ino];
  // Also holds while the image is lost: no other mount is granted anything before this mount has
  // answered its question, and this mount does not answer before it has heard it.
  const bool is_free = imaged_ && !entry.turn && !entry.own && entry.others.empty();
  Tried tried = Tried::kAskStore;
  if (conflict(all_opens(entry, before), after)) {
    tried = Tried::kDenied;
  } else if (is_free && before.deny == 0 && after.deny == 0) {
    recount(entry, before, after);
    tried = Tried::kCounted;
  }
  forget_if_idle(ino);
  return tried;
}

ShareTable::Turn ShareTable::take_turn(Ino ino) {
  const MutexLock lock(mutex_);
  turns_.wait(mutex_, [&]() REQUIRES(mutex_) { return !entries_[ino].turn; });
  entries_[ino].turn = true;
  return Turn(*this, ino);
}

std::optional<ShareTable::Turn> ShareTable::try_turn(Ino ino) {
  const MutexLock lock(mutex_);
  Entry& entry = entries_[ino];
  if (entry.turn) return std::nullopt;
  entry.turn = true;
  return Turn(*this, ino);
}

void ShareTable::end_turn(Ino ino) {
  {
    const MutexLock lock(mutex_);
    entries_[ino].turn = false;
    forget_if_idle(ino);
  }
  turns_.notify_all();
}

ShareMode ShareTable::opens(Ino ino, ShareMode but) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(ino);
  return found == entries_.end() ? ShareMode{} : all_opens(found->second, but);
}

void ShareTable::count(Ino ino, ShareMode before, ShareMode after) {
  const MutexLock lock(mutex_);
  recount(entries_[ino], before, after);
}

std::optional<RecordedShare> ShareTable::own(Ino ino) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(ino);
  return found == entries_.end() ? std::nullopt : found->second.own;
}

void ShareTable::note_own(Ino ino, std::optional<RecordedShare> own) {
  const MutexLock lock(mutex_);
  entries_[ino].own = std::move(own);
  note_recorded(ino);
}

ShareTable::Others ShareTable::others(Ino ino) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(ino);
  return found == entries_.end() ? Others{} : found->second.others;
}

std::vector<Ino> ShareTable::recorded() const {
  const MutexLock lock(mutex_);
  return {recorded_.begin(), recorded_.end()};
}

void ShareTable::note_recorded(Ino ino) {
  const auto found = entries_.find(ino);
  const bool is_recorded =
      found != entries_.end() && (found->second.own || !found->second.others.empty());
  if (is_recorded && ino != kNoFile) {
    recorded_.insert(ino);
  } else {
    recorded_.erase(ino);
  }
}

bool ShareTable::is_denied(Ino ino, std::uint8_t bits) const {
  if (others_count_.load(std::memory_order_acquire) == 0) return false;
  for (const auto& [id, share] : others(ino))
    if ((share.mode.deny & bits) != 0) return true;
  return false;
}

bool ShareTable::has_opens() const {
  const MutexLock lock(mutex_);
  for (const auto& [ino, entry] : entries_)
    if (entry.own || all_opens(entry, {}) != ShareMode{}) return true;
  return false;
}

std::optional<Revision> ShareTable::newest() const {
  const MutexLock lock(mutex_);
  return newest_;
}

void ShareTable::wait(std::int64_t wait_ms) {
  const MutexLock lock(mutex_);
  changed_.wait_for(mutex_, std::chrono::milliseconds(wait_ms),
                    [this]() REQUIRES(mutex_) { return woken_; });
  woken_ = false;
}

void ShareTable::wake() {
  {
    const MutexLock lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

std::optional<std::pair<Ino, MountId>> ShareTable::parse(const std::string& key) const {
  const std::string table = kv::keys::shares(fs_);
  if (key.size() != table.size() + 16 || !key.starts_with(table)) return std::nullopt;
  const std::pair ids{Ino{read_be64(key, table.size())}, MountId{read_be64(key, table.size() + 8)}};
  // This mount knows what it records before the watch does.
  if (ids.second == self_) return std::nullopt;
  return ids;
}

void ShareTable::put(const kv::KeyValue& kv) {
  const auto ids = parse(kv.key);
  if (!ids) return;
  // A record that cannot be read denies everything: it belongs to some mount.
  constexpr std::uint8_t kAccess = kShareRead | kShareWrite;
  const RecordedShare share = parse_share(kv.value).value_or(
      RecordedShare{{kAccess, kAccess | kShareMandatory}, true, false, ""});
  const bool added = entries_[ids->first].others.insert_or_assign(ids->second, share).second;
  if (added && ids->first != kNoFile) ++others_count_;
  note_recorded(ids->first);
}

void ShareTable::erase(const std::string& key) {
  const auto ids = parse(key);
  if (!ids) return;
  const bool erased = entries_[ids->first].others.erase(ids->second) > 0;
  if (erased && ids->first != kNoFile) --others_count_;
  note_recorded(ids->first);
  forget_if_idle(ids->first);
}

void ShareTable::on_image(const std::vector<kv::KeyValue>& image, Revision at) {
  {
    const MutexLock lock(mutex_);
    recorded_.insert(kNoFile);
    for (const Ino ino : std::exchange(recorded_, {})) {
      entries_[ino].others.clear();
      note_recorded(ino);  // this mount may have recorded it
      forget_if_idle(ino);
    }
    others_count_ = 0;
    for (const kv::KeyValue& kv : image) put(kv);
    newest_ = at;
    imaged_ = true;
    woken_ = true;
  }
  changed_.notify_all();
}

void ShareTable::on_events(const std::vector<kv::WatchEvent>& events, Revision newest) {
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
    if (events.empty()) return;
    woken_ = true;
  }
  changed_.notify_all();
}

void ShareTable::on_lost() {
  const MutexLock lock(mutex_);
  newest_.reset();
}

}  // namespace symnas::fs

#include "fsal_cluster/state/open_orphans.h"

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {

kv::SessionOptions::Followed OpenOrphans::followed() {
  return {{kv::prefix_range(kv::keys::orphans(fs_))}, this};
}

std::optional<OpenOrphans::Image> OpenOrphans::image() const {
  const MutexLock lock(mutex_);
  if (!newest_) return std::nullopt;
  Image out{*newest_, {}};
  for (const auto& [ino, orphan] : orphans_) out.orphans.push_back(orphan);
  return out;
}

std::optional<Ino> OpenOrphans::ino_of(const std::string& key) const {
  const std::string table = kv::keys::orphans(fs_);
  if (key.size() != table.size() + 8) return std::nullopt;
  return Ino{read_be64(key, table.size())};
}

void OpenOrphans::put(const kv::KeyValue& kv) {
  const auto ino = ino_of(kv.key);
  records::Orphan record;
  if (!ino) return;
  if (record.ParseFromString(kv.value) && record.open()) {
    orphans_[*ino] = Orphan{*ino, MountId{record.mount()}, kv.mod_revision};
  } else {
    orphans_.erase(*ino);
  }
}

void OpenOrphans::on_image(const std::vector<kv::KeyValue>& image, Revision at) {
  const MutexLock lock(mutex_);
  orphans_.clear();
  for (const kv::KeyValue& kv : image) put(kv);
  newest_ = at;
}

void OpenOrphans::on_events(const std::vector<kv::WatchEvent>& events, Revision newest) {
  const MutexLock lock(mutex_);
  for (const kv::WatchEvent& event : events) {
    if (!event.deleted) {
      put(event.kv);
    } else if (const auto ino = ino_of(event.kv.key)) {
      orphans_.erase(*ino);
    }
  }
  newest_ = newest;
}

void OpenOrphans::on_lost() {
  const MutexLock lock(mutex_);
  newest_.reset();
}

}  // namespace symnas::fs

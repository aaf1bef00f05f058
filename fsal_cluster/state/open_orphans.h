// OpenOrphans: the inodes without links that a mount may still have open, as the store shows them:
// a complete image, kept by the session's watch.
//
// Thread class: thread-safe; its mutex is a leaf.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "common/kv/follower.h"
#include "common/kv/session.h"

namespace symnas::fs {

class OpenOrphans final : public kv::Follower {
 public:
  explicit OpenOrphans(FsId fs) : fs_(fs) {}
  // For SessionOptions::followed. REQUIRES: this object outlives the session.
  kv::SessionOptions::Followed followed();

  struct Orphan {
    Ino ino;
    MountId mount;      // the mount that unlinked it
    Revision revision;  // of its record; the inode has lost its last link by then
  };
  struct Image {
    Revision newest;  // the image shows everything up to this revision
    std::vector<Orphan> orphans;
  };
  // nullopt: unknown, the image is lost.
  std::optional<Image> image() const;

  void on_image(const std::vector<kv::KeyValue>& image, Revision at) override;
  void on_events(const std::vector<kv::WatchEvent>& events, Revision newest) override;
  void on_lost() override;

 private:
  void put(const kv::KeyValue& kv) REQUIRES(mutex_);
  std::optional<Ino> ino_of(const std::string& key) const;

  const FsId fs_;
  mutable Mutex mutex_;
  std::optional<Revision> newest_ GUARDED_BY(mutex_);
  std::map<Ino, Orphan> orphans_ GUARDED_BY(mutex_);
};

}  // namespace symnas::fs

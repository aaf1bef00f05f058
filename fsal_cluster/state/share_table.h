// ShareTable: this mount's opens by their share modes, and an image of the records of files of
// which some open denies something (`wY` of docs/formats/keys.md). The image has all that other
// mounts have recorded; the session's watch keeps it. Share modes: docs/architecture/shares.md.
//
// Thread class: thread-safe; its mutex is a leaf. Invariant: an open is counted without the store
// only while nothing is recorded of its file, as far as the watch shows, and no operation has its
// turn.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "common/kv/follower.h"
#include "common/kv/session.h"
#include "fsal_cluster/types/share_mode.h"

namespace symnas::fs {

// Inode number of records that say which mounts may have opens; each mount's claim puts its own.
inline constexpr Ino kNoFile{0};

// One mount's record of a file.
struct RecordedShare {
  ShareMode mode;
  bool asks = false;      // every other mount is to record what it has open of the file
  bool complete = false;  // the mount has no other open of the file, and none may be reclaimed
  std::string vnfs;
  friend bool operator==(const RecordedShare&, const RecordedShare&) = default;
};

class ShareTable final : public kv::Follower {
 public:
  ShareTable(FsId fs, MountId self) : fs_(fs), self_(self) {}
  // For SessionOptions::followed. REQUIRES: this object outlives the session.
  kv::SessionOptions::Followed followed();

  // An open of the inode changes from `before` to `after`; {}: it is not open.
  enum class Tried { kCounted, kDenied, kAskStore };
  // Never waits. kDenied: by another open of this mount.
  Tried try_change(Ino ino, ShareMode before, ShareMode after);

  // The right to change what this mount has recorded of an inode; one holder at a time.
  class Turn {
   public:
    Turn(Turn&& other) noexcept : table_(std::exchange(other.table_, nullptr)), ino_(other.ino_) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (table_ != nullptr) table_->end_turn(ino_);
    }

   private:
    friend class ShareTable;
    Turn(ShareTable& table, Ino ino) : table_(&table), ino_(ino) {}
    ShareTable* table_;
    Ino ino_;
  };
  Turn take_turn(Ino ino);
  std::optional<Turn> try_turn(Ino ino);
  // REQUIRES for all four: the inode's turn. The modes of all opens of the inode by this mount
  // together, except one that is open as `but`.
  ShareMode opens(Ino ino, ShareMode but = {}) const;
  void count(Ino ino, ShareMode before, ShareMode after);
  // What this mount has recorded.
  std::optional<RecordedShare> own(Ino ino) const;
  void note_own(Ino ino, std::optional<RecordedShare> own);

  // What other mounts have recorded, living or ended, as far as the watch shows.
  using Others = std::map<MountId, RecordedShare>;
  Others others(Ino ino) const;
  // The inodes of which any mount has recorded something.
  std::vector<Ino> recorded() const;
  // Whether another mount has recorded an open that denies any of `bits`. Cheap when nothing is
  // recorded at all.
  bool is_denied(Ino ino, std::uint8_t bits) const;
  // Whether this mount has anything open, or has recorded anything.
  bool has_opens() const;
  // The revision up to which everything is known; nullopt: the image is lost.
  std::optional<Revision> newest() const;

  // Waits until something has changed in what other mounts have recorded, at most wait_ms. wake()
  // ends this wait, or the next one.
  void wait(std::int64_t wait_ms);
  void wake();

  void on_image(const std::vector<kv::KeyValue>& image, Revision at) override;
  void on_events(const std::vector<kv::WatchEvent>& events, Revision newest) override;
  void on_lost() override;

 private:
  struct Entry {
    using Counts = std::array<std::uint32_t, 3>;  // opens by bit
    Counts access{};
    Counts deny{};
    std::optional<RecordedShare> own;
    Others others;
    bool turn = false;
    bool is_idle() const {
      return !turn && !own && others.empty() && access == Counts{} && deny == Counts{};
    }
  };
  static ShareMode all_opens(const Entry& entry, ShareMode but);
  static void recount(Entry& entry, ShareMode before, ShareMode after);
  void end_turn(Ino ino);
  void put(const kv::KeyValue& kv) REQUIRES(mutex_);
  void erase(const std::string& key) REQUIRES(mutex_);
  void forget_if_idle(Ino ino) REQUIRES(mutex_);
  void note_recorded(Ino ino) REQUIRES(mutex_);
  std::optional<std::pair<Ino, MountId>> parse(const std::string& key) const;

  const FsId fs_;
  const MountId self_;
  std::atomic<std::size_t> others_count_{0};  // records of other mounts about files

  mutable Mutex mutex_;
  CondVar turns_;
  CondVar changed_;
  std::optional<Revision> newest_ GUARDED_BY(mutex_);
  bool imaged_ GUARDED_BY(mutex_) = false;  // there has been an image
  std::unordered_map<Ino, Entry> entries_ GUARDED_BY(mutex_);
  // Files of which any mount has recorded something (without kNoFile).
  std::set<Ino> recorded_ GUARDED_BY(mutex_);
  bool woken_ GUARDED_BY(mutex_) = false;
};

// Encodes a share record, and decodes it; nullopt: it cannot be read.
std::string encode_share(const RecordedShare& share);
std::optional<RecordedShare> parse_share(const std::string& value);

}  // namespace symnas::fs

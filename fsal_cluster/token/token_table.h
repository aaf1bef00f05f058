// TokenTable: the tokens of all mounts and the wants for them, as the watch shows them
// (docs/design.md 5.4, docs/architecture/several_mounts.md). The table is complete: an inode
// without an entry has no token, except one that was put after `at`.
//
// Thread class: thread-safe; its mutex is a leaf. Actions and the listener are called by the
// session's watch with locks held: they must only hand the work on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/base/thread_annotations.h"
#include "common/kv/follower.h"
#include "common/kv/session.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs {

// What the table says of one inode.
struct TokenSight {
  bool complete = false;  // false: nothing is known; look again later
  Revision at;            // every token that was put up to this revision is known
  bool mine = false;      // this mount has one
  bool foreign = false;   // another mount has one
  bool foreign_exclusive = false;
  bool foreign_wrote = false;
  struct Want {
    MountId mount;
    records::WantRecord::Kind kind = records::WantRecord::S;
    Revision revision;
  };
  std::optional<Want> want;
  std::uint64_t version = 0;  // differs after each change; 0: there was never an entry
};

class TokenTable final : public kv::Follower {
 public:
  TokenTable(FsId fs, MountId mine) : fs_(fs), mine_(mine) {}

  // For SessionOptions::followed. REQUIRES: this object outlives the session.
  kv::SessionOptions::Followed followed();

  TokenSight sight(Ino ino) const;
  // Whether `mount` has tokens, as of the newest event. kUnknown: there is no image.
  enum class Holds : std::uint8_t { kUnknown, kNothing, kTokens };
  Holds holds(MountId mount) const;
  // Runs `action` once, when the inode's sight may differ from `seen`; at once when it differs
  // already.
  void when_changed(Ino ino, const TokenSight& seen, std::function<void()> action);
  // Called for every want of another mount, also again after an image. Set before the session
  // opens.
  using Listener = std::function<void(Ino, TokenSight::Want)>;
  void listen(Listener listener);
  // Runs every action that waits, now and from now on.
  void stop();

  void on_image(const std::vector<kv::KeyValue>& image, Revision at) override;
  void on_events(const std::vector<kv::WatchEvent>& events, Revision newest) override;
  void on_lost() override;

 private:
  struct Token {
    bool exclusive = false;
    bool wrote = false;
  };
  struct Entry {
    std::map<MountId, Token> tokens;  // at most one per mount: few
    std::optional<TokenSight::Want> want;
    std::uint64_t version = 0;
    Revision newest;  // of its tokens' puts
  };
  using Actions = std::vector<std::function<void()>>;

  TokenSight sight_locked(Ino ino) const REQUIRES(mutex_);
  void apply(const kv::WatchEvent& event, Actions& actions) REQUIRES(mutex_);
  void apply_token(Ino ino, MountId mount, const kv::WatchEvent& event) REQUIRES(mutex_);
  void touch(Ino ino, Entry& entry, Actions& actions) REQUIRES(mutex_);
  void wake_all(Actions& actions) REQUIRES(mutex_);

  const FsId fs_;
  const MountId mine_;
  mutable Mutex mutex_;
  Listener listener_ GUARDED_BY(mutex_);
  bool complete_ GUARDED_BY(mutex_) = false;
  bool stopped_ GUARDED_BY(mutex_) = false;
  Revision at_ GUARDED_BY(mutex_);
  std::uint64_t versions_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<Ino, Entry> entries_ GUARDED_BY(mutex_);
  std::map<MountId, std::size_t> held_ GUARDED_BY(mutex_);  // how many tokens each mount has
  std::unordered_multimap<Ino, std::function<void()>> waiting_ GUARDED_BY(mutex_);
};

}  // namespace symnas::fs

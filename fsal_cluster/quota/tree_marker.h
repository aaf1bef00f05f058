// TreeMarker: gives all that lies in a directory the number of its tree, while clients work. Then
// the tree is READY and its limits hold.
//
// Every inode is marked by a transaction that compares it and the names that lead to it from a
// directory that is marked already; so what is marked is in the tree. From the moment a directory
// is marked, what is made in it or renamed into it is marked at once (ops/quota.h). So a pass from
// the root down finds all, but for what is below directories that are renamed meanwhile: those are
// on a list in the tree's record, which each turn takes up. A pass is in memory only: whoever takes
// over begins anew, and passes by quickly what is marked. No directory leaves a tree that is being
// marked, or comes into it (ops/quota.h), or marked ones would lie outside of it.
//
// An inode that belongs to another tree stays there: a file that has a name in both.
//
// Thread class: confined to the keeper's thread. Cost: a put for an inode, eight in a transaction,
// one transaction at a time; 8 bytes of memory for a directory that is found and not looked at yet.
// It stops while etcd is nearly full (Growth::kChanges).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/kv/session.h"
#include "fsal_cluster/quota/records.pb.h"

namespace symnas::fs {

class TreeMarker {
 public:
  // `session` counts what it is given; it outlives this object.
  TreeMarker(kv::Session& session, FsId fs, MountId self)
      : session_(session), fs_(fs), self_(self) {}

  // Works for some pages. Of `trees` the first that is not READY is marked, then the next one.
  // Errors: those of Session, kCorrupt.
  Status turn(const std::map<std::uint32_t, records::QuotaTree>& trees,
              const std::function<bool()>& stopping);
  // Whether the next turn should not wait.
  bool is_busy() const { return busy_; }

 private:
  struct Job {
    std::uint32_t tree = 0;
    std::vector<Ino> pending;  // directories to be looked at; the last one is
    std::string from;          // the key in it at which the next page begins
    bool left = false;         // something could not be marked: another pass is needed
  };
  struct Stored {
    records::QuotaTree record;
    Revision revision;
  };
  // A name in a marked directory, as it was read.
  struct Named {
    Ino ino;
    std::string bucket;
    Revision revision;  // of the bucket
  };
  enum class Marked : std::uint8_t { kYes, kElsewhere, kGone, kConflict };

  // The record of the tree as it is now; nullopt: there is none.
  Result<std::optional<Stored>> read_tree(std::uint32_t tree);
  std::optional<std::uint32_t> next_of(const std::map<std::uint32_t, records::QuotaTree>& trees);
  // Takes the tree over, and marks its root.
  Status begin(std::uint32_t tree);
  Status page();
  // Takes up what was renamed meanwhile. Gives the tree up when another mount has taken it over, or
  // the list was full.
  Status take_moved();
  // After a pass: the tree is READY, or another pass is needed.
  Status end_pass();
  Result<bool> put_tree(std::uint32_t tree, const Stored& before, const records::QuotaTree& after);
  Status remove_tree(std::uint32_t tree, const Stored& stored);
  // Marks what is not, and puts directories on the list.
  Status mark(const std::vector<Named>& names);
  Result<Marked> mark_some(const std::vector<Named>& names);
  Result<Marked> mark_one(const Named& name);
  // Adds the inode to `mutation` if it must be marked.
  Result<Marked> plan(const Named& name, kv::Mutation& mutation, std::vector<Ino>& directories);

  kv::Session& session_;
  const FsId fs_;
  const MountId self_;
  std::optional<Job> job_;
  bool busy_ = false;
  // Trees of which `trees` may not say yet that there is nothing to do.
  std::set<std::uint32_t> finished_;
};

}  // namespace symnas::fs

// LinkDrop: removes one link of an inode that is no directory; shared by UNLINK and by RENAME onto
// a file. The inode becomes an orphan (it stays without a name) when its last link goes while this
// process holds it open, or while other mounts exist, which may have it open. Otherwise inode and
// data go with the last link.
//
// Thread class: confined to its operation. Between prepare() and its end the inode's open count and
// I/O stand still.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "fsal_cluster/data/file_data.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/state/membership.h"
#include "fsal_cluster/state/open_files.h"

namespace symnas::fs {

// Compares and writes that an operation adds to its own transaction.
struct TxnPart {
  std::vector<kv::Compare> compares;
  std::vector<kv::Op> writes;
  void add_to(kv::Mutation& mutation) const;
  void add_to(TxnPart& part) const;
};

enum class Fate { kKeepsLinks, kOrphaned, kRemoved };

// Pure. Compares the inode; `removal` (kRemoved only) frees its data.
TxnPart plan_link_drop(FsId fs, MountId mount, const Node& node, Fate fate, const TxnPart& removal,
                       std::int64_t now_ns);

class LinkDrop {
 public:
  // Decides the fate; drains the inode's I/O if it is to be removed. Blocks. Errors: kConflict (the
  // inode was removed since `node` was read), those of FileData::plan_removal.
  static Result<LinkDrop> prepare(Context& context, const Node& node, std::int64_t now_ns);
  LinkDrop(LinkDrop&& other) noexcept;
  LinkDrop& operator=(LinkDrop&&) = delete;
  // When committed() was not called before, the transaction did not commit.
  ~LinkDrop();

  const TxnPart& part() const { return part_; }
  void committed();

 private:
  LinkDrop(Context& context, Ino ino, Fate fate, Membership::Stay stay)
      : stay_(std::move(stay)), context_(&context), ino_(ino), fate_(fate) {}

  Membership::Stay stay_;
  Context* context_;
  Ino ino_;
  Fate fate_;
  TxnPart part_;
  std::optional<OpenFiles::Removal> open_;  // frozen open count; unless kKeepsLinks
  std::optional<FileData::Removal> data_;   // regular files, kRemoved
};

}  // namespace symnas::fs

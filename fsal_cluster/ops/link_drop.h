// LinkDrop: taking one link from an inode that is no directory: what UNLINK and RENAME onto a file
// share. The last link of a file that this process holds open, or beside other mounts, which may,
// leaves the inode without a name (an orphan); otherwise inode and data go.
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

// Compares and writes that a transaction takes over from somebody else.
struct TxnPart {
  std::vector<kv::Compare> compares;
  std::vector<kv::Op> writes;
  void add_to(kv::Mutation& mutation) const;
};

enum class Fate { kKeepsLinks, kOrphaned, kRemoved };

// Pure. Compares the inode; `removal` (kRemoved only) frees its data.
TxnPart plan_link_drop(FsId fs, MountId mount, const Node& node, Fate fate, const TxnPart& removal,
                       std::int64_t now_ns);

class LinkDrop {
 public:
  // Decides the fate and drains the inode's I/O when it is removed. Blocks. Errors: kConflict (it
  // was removed since `node` was read), those of FileData::plan_removal.
  static Result<LinkDrop> prepare(Context& context, const Node& node, std::int64_t now_ns);
  LinkDrop(LinkDrop&& other) noexcept;
  LinkDrop& operator=(LinkDrop&&) = delete;
  // Without committed() before: the transaction did not commit.
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

// What namespace operations ask of quotas: before an inode is made, or gets another owner; and that
// a directory tree with a quota holds what was made in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/ops/link_drop.h"
#include "fsal_cluster/ops/nodes.h"
#include "fsal_cluster/quota/quotas.h"
#include "fsal_cluster/quota/records.pb.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/types/types.h"

namespace symnas::fs {

// The charge of a new inode; it lives until the transaction has ended. Errors: kQuotaExceeded,
// kBusy (others use the limit up in parallel), those of Session::barrier.
Result<Quotas::Charge> charge_new(Context& context, const Credentials& who,
                                  const records::Inode& inode);
// Charges what the inode uses to the owner and group that it is to get. Errors: as charge_new();
// those of require_node().
Status charge_new_owner(Context& context, const Credentials& who, const Handle& handle,
                        const SetAttributes& changes, Quotas::Charge& charge);
// Pure. Root asks about everybody, others about themselves and their groups, as of rpc.rquotad(8).
// Errors: kPermission.
Status may_ask(const Credentials& who, const Subject& subject);
// The directory tree that an inode belongs to.
struct TreeOf {
  std::uint32_t id = 0;  // 0: none
  records::QuotaTree record;
  Revision revision;  // of the record
  // The inode has the number of a tree that was removed, which is never used again: that the cache
  // is not older than the tree.
  std::optional<kv::Compare> removed;
  bool is_root(Ino ino) const { return id != 0 && record.root() == ino.value(); }
  // Everything in it has its number.
  bool is_ready() const { return id != 0 && record.state() == records::QuotaTree::READY; }
};
// Cost: none without a number, else a read of one cached key. Errors: kCorrupt, Session::read.
Result<TreeOf> tree_of(Context& context, const records::Inode& inode);

// What a RENAME or LINK adds to its transaction for the sake of trees.
struct TreesOfChange {
  TxnPart part;
  std::optional<std::uint32_t> number;  // that the inode is to get
};
struct TreeMove {
  const Node& source;
  const Place& from;
  const Place& to;
  std::optional<Revision> directory_move;  // the move key, if it was read before a barrier already
};
// An inode stays in its tree, as with projects of XFS. While a tree is marked, what is renamed in
// it is marked at once, and a directory is put on the list of what the marker looks at again: its
// names may have come from where the marker has not been to where it has. Errors: kCrossDevice,
// those of tree_of(), Session::barrier, Session::range. Cost: while some tree is being marked, and
// one of two directories has no number, a barrier and a look at what they lie in.
Result<TreesOfChange> trees_of_rename(Context& context, const TreeMove& move);
// That a file may get a name in this directory, as far as trees are concerned. One that has no
// number may get one in a tree that is being marked: it may be in it already. Errors: as above.
Result<TreesOfChange> trees_of_link(Context& context, const Node& target, const Place& place);
// A tree goes with its directory: erases its record and its limit, if the directory has one.
Result<TxnPart> tree_of_removed(Context& context, const Node& directory);

}  // namespace symnas::fs

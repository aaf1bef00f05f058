// What namespace operations ask of quotas: before an inode is made, or gets another owner; and that
// a directory tree with a quota holds what was made in it.
#pragma once

#include <string>

#include "common/base/result.h"
#include "fsal_cluster/ops/context.h"
#include "fsal_cluster/quota/quotas.h"
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
// Pure. An inode gets a name in a directory of its own tree only, as with projects of XFS. Errors:
// kCrossDevice.
Status check_same_tree(const records::Inode& inode, const records::Inode& directory,
                       const std::string& name);

}  // namespace symnas::fs

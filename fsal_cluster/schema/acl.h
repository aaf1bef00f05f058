// The ACL in an inode's record. Format: docs/formats/filesystem_records.md. Thread-safe: pure
// functions.
#pragma once

#include <memory>
#include <optional>

#include "fsal_cluster/schema/records.pb.h"
#include "fsal_cluster/types/acl.h"

namespace symnas::fs {

// The ACL of an inode; null: the mode says everything. An entry with a type or a name that this
// version does not know allows nothing: it denies its mask to everyone.
std::shared_ptr<const Acl> acl_of(const records::Inode& inode);
void put_acl(records::Inode& inode, const std::optional<Acl>& acl);

}  // namespace symnas::fs

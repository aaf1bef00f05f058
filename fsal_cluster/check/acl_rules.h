// What an ACL in an inode's record may say, and whether the mode is in step with it (RFC 8881
// 6.3.2; docs/decisions/0017). Thread-safe: pure function.
#pragma once

#include <optional>
#include <string>

#include "fsal_cluster/schema/records.pb.h"

namespace symnas::fs::check {

// What is wrong with the record's ACL; nullopt: nothing, or it has none.
std::optional<std::string> acl_problem(const records::Inode& inode);

}  // namespace symnas::fs::check

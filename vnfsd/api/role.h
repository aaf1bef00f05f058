// Role: what a caller of the API may do. Each role may do all that the ones before it may:
// viewer reads, operator moves and starts what there is, admin makes, removes and fences.
// The rule in full: docs/operations/api.md.
#pragma once

#include <optional>
#include <string_view>

namespace symnas::vnfsd::api {

enum class Role { kViewer, kOperator, kAdmin };

// viewer, operator, admin.
std::string_view name_of(Role role);
// nullopt: no such role.
std::optional<Role> parse_role(std::string_view name);

}  // namespace symnas::vnfsd::api

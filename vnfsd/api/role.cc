#include "vnfsd/api/role.h"

namespace symnas::vnfsd::api {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::kViewer: return "viewer";
    case Role::kOperator: return "operator";
    case Role::kAdmin: return "admin";
  }
  return "viewer";
}

std::optional<Role> parse_role(std::string_view name) {
  for (const Role role : {Role::kViewer, Role::kOperator, Role::kAdmin}) {
    if (name == name_of(role)) return role;
  }
  return std::nullopt;
}

}  // namespace symnas::vnfsd::api

// The name services of the head, as its nsswitch.conf has them.
//
// Thread class: thread-safe; every call may block for as long as a service does not answer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace symnas::plugin {

// Which of `names` mean the client with that address (text). A name: of a host, with wildcards of
// fnmatch(3) for a host's name, or "@" and a netgroup. Of a name that is missing in the answer
// nothing is known: a service did not answer.
std::map<std::string, bool> names_of_client(const std::string& address,
                                            const std::vector<std::string>& names);

struct UserGroups {
  bool is_known = false;              // whether there is such a user at all
  std::vector<std::uint32_t> groups;  // the primary one, too
};
// nullopt: a service did not answer.
std::optional<UserGroups> groups_of_user(std::uint32_t uid);

struct UserIds {
  bool is_known = false;  // whether there is such a user at all
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  // the primary one, too
};
// Whom a name means. nullopt: a service did not answer.
std::optional<UserIds> ids_of_user(const std::string& name);

struct GroupId {
  bool is_known = false;  // whether there is such a group at all
  std::uint32_t gid = 0;
};
// nullopt: a service did not answer.
std::optional<GroupId> id_of_group(const std::string& name);

}  // namespace symnas::plugin

#include "fsal_cluster/plugin/name_service.h"

#include <arpa/inet.h>
#include <fnmatch.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "common/base/thread_annotations.h"
#include "fsal_cluster/plugin/limits.h"

namespace symnas::plugin {
namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

std::optional<Address> parse(const std::string& text) {
  Address address;
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    address.size = sizeof v4;
  } else if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    address.size = sizeof v6;
  } else {
    return std::nullopt;
  }
  return address;
}

bool same(const sockaddr& a, const sockaddr& b) {
  if (a.sa_family != b.sa_family) return false;
  if (a.sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
  }
  return std::memcmp(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr, sizeof(in6_addr)) == 0;
}

// Whether a service has said that there is no such name.
bool is_denial(int error) {
  return error == EAI_NONAME || error == EAI_NODATA || error == EAI_ADDRFAMILY;
}

// Whether the host has that address. nullopt: nobody answers.
std::optional<bool> has_address(const std::string& host, const Address& address) {
  addrinfo hints{};
  hints.ai_family = address.storage.ss_family;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &raw);
  if (error != 0) return is_denial(error) ? std::optional(false) : std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(raw, ::freeaddrinfo);
  for (const addrinfo* one = raw; one != nullptr; one = one->ai_next) {
    if (same(*one->ai_addr, *address.get())) return true;
  }
  return false;
}

// The name of the host with that address, which the host's own addresses confirm: whoever owns an
// address decides what name is found for it. "": it has none. nullopt: nobody answers.
std::optional<std::string> name_of(const Address& address) {
  char host[NI_MAXHOST];
  const int error =
      ::getnameinfo(address.get(), address.size, host, sizeof host, nullptr, 0, NI_NAMEREQD);
  if (error != 0) return is_denial(error) ? std::optional<std::string>("") : std::nullopt;
  const auto confirmed = has_address(host, address);
  if (!confirmed) return std::nullopt;
  return *confirmed ? std::string(host) : std::string();
}

// One netgroup at a time: setnetgrent(3) is not thread-safe. nullopt: there is no such group, or
// nobody answers: libc does not tell which.
std::optional<bool> is_in_netgroup(const std::string& group, const std::string& host,
                                   const std::string& address) {
  static Mutex mutex;
  const MutexLock lock(mutex);
  const auto contains = [&](const std::string& name) {
    return !name.empty() && ::innetgr(group.c_str(), name.c_str(), nullptr, nullptr) != 0;
  };
  if (contains(host) || contains(address)) return true;
  const bool is_there = ::setnetgrent(group.c_str()) != 0;
  ::endnetgrent();
  return is_there ? std::optional(false) : std::nullopt;
}

}  // namespace

std::map<std::string, bool> names_of_client(const std::string& text,
                                            const std::vector<std::string>& names) {
  std::map<std::string, bool> answer;
  const auto address = parse(text);
  if (!address) return answer;
  std::optional<std::string> host;  // looked up only if somebody wants it
  bool asked = false;
  for (const std::string& name : names) {
    std::optional<bool> is_it;
    const bool group = name.starts_with('@');
    if (!group && name.find_first_of("*?[") == std::string::npos) {
      is_it = has_address(name, *address);
    } else {
      if (!asked) host = name_of(*address);
      asked = true;
      if (!host) continue;
      is_it = group ? is_in_netgroup(name.substr(1), *host, text)
                    : std::optional(!host->empty() &&
                                    ::fnmatch(name.c_str(), host->c_str(), FNM_CASEFOLD) == 0);
    }
    if (is_it) answer[name] = *is_it;
  }
  return answer;
}

namespace {

// getpwuid_r(3), getgrnam_r(3): these, too, mean that there is no such entry.
bool is_no_such_entry(int error) {
  return error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

// What a call like getpwuid_r(3) finds; null: see `denied`.
struct FoundUser {
  std::vector<char> buffer = std::vector<char>(kPasswdBytes);
  passwd user{};
  passwd* found = nullptr;
  bool denied = false;  // there is no such user; else a service did not answer

  template <class Call>
  explicit FoundUser(Call call) {
    int error = 0;
    while ((error = call(&user, buffer.data(), buffer.size(), &found)) == ERANGE &&
           buffer.size() < kPasswdBytesMax)
      buffer.resize(2 * buffer.size());
    denied = is_no_such_entry(error);
  }
};

std::vector<std::uint32_t> groups_of(const passwd& user) {
  std::vector<std::uint32_t> groups(kGroupsAtFirst);
  for (;;) {
    int count = static_cast<int>(groups.size());
    const int done = ::getgrouplist(user.pw_name, user.pw_gid, groups.data(), &count);
    const std::size_t size = std::min(static_cast<std::size_t>(std::max(count, 0)), kGroupsMax);
    if (done >= 0 || groups.size() >= kGroupsMax) {
      groups.resize(std::min(size, groups.size()));
      return groups;
    }
    groups.resize(std::max(size, groups.size() + 1));
  }
}

}  // namespace

std::optional<UserGroups> groups_of_user(std::uint32_t uid) {
  const FoundUser user([uid](auto... rest) { return ::getpwuid_r(uid, rest...); });
  if (user.found != nullptr) return UserGroups{true, groups_of(user.user)};
  return user.denied ? std::optional(UserGroups{}) : std::nullopt;
}

std::optional<UserIds> ids_of_user(const std::string& name) {
  const FoundUser user([&](auto... rest) { return ::getpwnam_r(name.c_str(), rest...); });
  if (user.found != nullptr)
    return UserIds{true, user.user.pw_uid, user.user.pw_gid, groups_of(user.user)};
  return user.denied ? std::optional(UserIds{}) : std::nullopt;
}

std::optional<GroupId> id_of_group(const std::string& name) {
  std::vector<char> buffer(kPasswdBytes);
  group entry{};
  group* found = nullptr;
  int error = 0;
  while ((error = ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found)) ==
             ERANGE &&
         buffer.size() < kPasswdBytesMax)
    buffer.resize(2 * buffer.size());
  if (found != nullptr) return GroupId{true, entry.gr_gid};
  return is_no_such_entry(error) ? std::optional(GroupId{}) : std::nullopt;
}

}  // namespace symnas::plugin

#include "fsal_cluster/state/nfs4_client.h"

namespace symnas::fs {
namespace {

using namespace std::literals;

// No name of a principal holds a zero byte.
constexpr std::string_view kMark = "\0krb5\0"sv;

}  // namespace

std::string identity_of(const Nfs4Client& client) {
  // A client whose own words have the mark gets one more: it must not look like another's.
  if (client.principal.empty() && client.owner.find(kMark) == std::string::npos)
    return client.owner;
  return client.owner + std::string(kMark) + client.principal;
}

Nfs4Client parse_nfs4_client(std::string_view identity) {
  const std::size_t at = identity.rfind(kMark);
  if (at == std::string_view::npos) return {std::string(identity), ""};
  return {std::string(identity.substr(0, at)), std::string(identity.substr(at + kMark.size()))};
}

}  // namespace symnas::fs

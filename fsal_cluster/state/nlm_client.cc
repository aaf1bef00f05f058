#include "fsal_cluster/state/nlm_client.h"

namespace symnas::fs {

std::string identity_of(const NlmClient& client) {
  return client.address + ' ' + client.server + ' ' + client.name;
}

std::optional<NlmClient> parse_nlm_client(const std::string& identity) {
  const std::size_t server = identity.find(' ');
  if (server == std::string::npos || server == 0) return std::nullopt;
  const std::size_t name = identity.find(' ', server + 1);
  if (name == std::string::npos || name == server + 1) return std::nullopt;
  return NlmClient{identity.substr(0, server), identity.substr(server + 1, name - server - 1),
                   identity.substr(name + 1)};
}

std::optional<NlmClient> nlm_client_of(const LockOwner& owner) {
  return owner.protocol == LockProtocol::kNlm ? parse_nlm_client(owner.client) : std::nullopt;
}

std::string nlm_address_of(const LockOwner& owner) {
  const auto client = nlm_client_of(owner);
  return client ? client->address : "";
}

bool is_of_nlm_client(const LockOwner& owner, const std::string& address) {
  return owner.protocol == LockProtocol::kNlm && nlm_address_of(owner) == address;
}

}  // namespace symnas::fs

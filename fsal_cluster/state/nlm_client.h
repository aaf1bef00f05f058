// NlmClient: identifies an NLM client in the lock records. Value type, pure functions.
//
// A caller_name alone does not identify a client: two clients may have one name ("localhost"), and
// the Linux client numbers its lock owners (svid) separately for each server address that it uses.
// So the identity is address, server and name. All three outlive this process, and none changes
// when a VNFS moves.
#pragma once

#include <optional>
#include <string>

#include "fsal_cluster/state/lock_table.h"

namespace symnas::fs {

struct NlmClient {
  std::string address;  // text; an IPv4-mapped one as IPv4
  std::string server;   // the VIP that it uses
  std::string name;     // caller_name
  friend auto operator<=>(const NlmClient&, const NlmClient&) = default;
};

// The text in LockOwner::client for owners of this client: "ADDRESS SERVER NAME".
std::string identity_of(const NlmClient& client);
// nullopt: `identity` is not such a text.
std::optional<NlmClient> parse_nlm_client(const std::string& identity);
// The NLM client that locks as `owner`; nullopt, "": it is none.
std::optional<NlmClient> nlm_client_of(const LockOwner& owner);
std::string nlm_address_of(const LockOwner& owner);
bool is_of_nlm_client(const LockOwner& owner, const std::string& address);

}  // namespace symnas::fs

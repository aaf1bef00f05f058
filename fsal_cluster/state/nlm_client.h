// NlmClient: who an NLM client is to the lock records. Value type, pure functions.
//
// A caller_name alone does not tell: two clients may have one name ("localhost"), and the Linux
// client counts its lock owners (svid) anew for each address of a server that it uses. So the
// identity is all three; all of them outlive this process, and none changes when a VNFS moves.
#pragma once

#include <optional>
#include <string>

namespace symnas::fs {

struct NlmClient {
  std::string address;  // text; an IPv4-mapped one as IPv4
  std::string server;   // the VIP that it uses
  std::string name;     // caller_name
  friend auto operator<=>(const NlmClient&, const NlmClient&) = default;
};

// LockOwner::client of its owners: "ADDRESS SERVER NAME".
std::string identity_of(const NlmClient& client);
// nullopt: `identity` is none.
std::optional<NlmClient> parse_nlm_client(const std::string& identity);

}  // namespace symnas::fs

// A client of NFSv4 as locks are recorded for it: its own words and the Kerberos principal, if any,
// under which it has introduced itself. So nobody else gets its locks after a move or a crash by
// knowing its words (RFC 8881, 8.4.2.1). Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace symnas::fs {

struct Nfs4Client {
  std::string owner;      // co_ownerid, or the id of nfs_client_id4: bytes of the client's choice
  std::string principal;  // "nfs/c1.example.com@EXAMPLE.COM"; "": it came without Kerberos
  friend bool operator==(const Nfs4Client&, const Nfs4Client&) = default;
};

// LockOwner::client of it; different clients have different ones. Without a principal, the owner.
std::string identity_of(const Nfs4Client& client);
Nfs4Client parse_nfs4_client(std::string_view identity);

}  // namespace symnas::fs

// NfsOperation: a procedure of NFSv3, NLM or NFSACL, or an operation of NFSv4, as a number and as a
// name. Value type, pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace symnas::fs {

enum class NfsProtocol : std::uint8_t { kNfs3 = 0, kNfs4 = 1, kNlm4 = 2, kNfsAcl3 = 3 };

struct NfsOperation {
  NfsProtocol protocol = NfsProtocol::kNfs3;
  std::uint8_t number = 0;  // RFC 1813; RFC 7530, 8881, 7862, 8276; of NLM version 4; of NFSACL

  friend auto operator<=>(const NfsOperation&, const NfsOperation&) = default;
};

// The operation of an RPC program and version. nullopt: NULL calls; programs that do no work on
// files (MOUNT, RQUOTA, NLM of versions before 4); numbers that the protocol does not have; and
// operations of NFSv4 that only carry others (PUTFH, GETFH, SAVEFH, RESTOREFH, PUTROOTFH, PUTPUBFH,
// SEQUENCE): a COMPOUND would count several times.
std::optional<NfsOperation> nfs_operation(std::uint32_t program, std::uint32_t version,
                                          std::uint32_t number);

// "READ". The same in all protocols that have it.
std::string_view name_of(const NfsOperation& operation);
// "nfs3", "nfs4", "nlm4", "nfsacl3".
std::string_view name_of(NfsProtocol protocol);

// "nfs3.READ".
std::string text_of(const NfsOperation& operation);
// The reverse. nullopt: no such operation.
std::optional<NfsOperation> operation_from(std::string_view text);

}  // namespace symnas::fs

#include "fsal_cluster/load/operation.h"

#include <array>
#include <cstddef>
#include <span>

namespace symnas::fs {
namespace {

// By number; "": not counted.
constexpr std::array<std::string_view, 22> kNfs3 = {
    "",        "GETATTR",     "SETATTR", "LOOKUP", "ACCESS",   "READLINK", "READ",   "WRITE",
    "CREATE",  "MKDIR",       "SYMLINK", "MKNOD",  "REMOVE",   "RMDIR",    "RENAME", "LINK",
    "READDIR", "READDIRPLUS", "FSSTAT",  "FSINFO", "PATHCONF", "COMMIT"};
constexpr std::array<std::string_view, 76> kNfs4 = {"",
                                                    "",
                                                    "",
                                                    "ACCESS",
                                                    "CLOSE",
                                                    "COMMIT",
                                                    "CREATE",
                                                    "DELEGPURGE",
                                                    "DELEGRETURN",
                                                    "GETATTR",
                                                    /* GETFH */ "",
                                                    "LINK",
                                                    "LOCK",
                                                    "LOCKT",
                                                    "LOCKU",
                                                    "LOOKUP",
                                                    "LOOKUPP",
                                                    "NVERIFY",
                                                    "OPEN",
                                                    "OPENATTR",
                                                    "OPEN_CONFIRM",
                                                    "OPEN_DOWNGRADE",
                                                    /* PUTFH, PUTPUBFH, PUTROOTFH */ "",
                                                    "",
                                                    "",
                                                    "READ",
                                                    "READDIR",
                                                    "READLINK",
                                                    "REMOVE",
                                                    "RENAME",
                                                    "RENEW",
                                                    /* RESTOREFH, SAVEFH */ "",
                                                    "",
                                                    "SECINFO",
                                                    "SETATTR",
                                                    "SETCLIENTID",
                                                    "SETCLIENTID_CONFIRM",
                                                    "VERIFY",
                                                    "WRITE",
                                                    "RELEASE_LOCKOWNER",
                                                    "BACKCHANNEL_CTL",
                                                    "BIND_CONN_TO_SESSION",
                                                    "EXCHANGE_ID",
                                                    "CREATE_SESSION",
                                                    "DESTROY_SESSION",
                                                    "FREE_STATEID",
                                                    "GET_DIR_DELEGATION",
                                                    "GETDEVICEINFO",
                                                    "GETDEVICELIST",
                                                    "LAYOUTCOMMIT",
                                                    "LAYOUTGET",
                                                    "LAYOUTRETURN",
                                                    "SECINFO_NO_NAME",
                                                    /* SEQUENCE */ "",
                                                    "SET_SSV",
                                                    "TEST_STATEID",
                                                    "WANT_DELEGATION",
                                                    "DESTROY_CLIENTID",
                                                    "RECLAIM_COMPLETE",
                                                    "ALLOCATE",
                                                    "COPY",
                                                    "COPY_NOTIFY",
                                                    "DEALLOCATE",
                                                    "IO_ADVISE",
                                                    "LAYOUTERROR",
                                                    "LAYOUTSTATS",
                                                    "OFFLOAD_CANCEL",
                                                    "OFFLOAD_STATUS",
                                                    "READ_PLUS",
                                                    "SEEK",
                                                    "WRITE_SAME",
                                                    "CLONE",
                                                    "GETXATTR",
                                                    "SETXATTR",
                                                    "LISTXATTRS",
                                                    "REMOVEXATTR"};
constexpr std::array<std::string_view, 24> kNlm4 = {
    "",
    "TEST",
    "LOCK",
    "CANCEL",
    "UNLOCK",
    "GRANTED",
    "TEST_MSG",
    "LOCK_MSG",
    "CANCEL_MSG",
    "UNLOCK_MSG",
    "GRANTED_MSG",
    "TEST_RES",
    "LOCK_RES",
    "CANCEL_RES",
    "UNLOCK_RES",
    "GRANTED_RES",
    /* SM_NOTIFY: the head's own status monitor */ "",
    "",
    "",
    "",
    "SHARE",
    "UNSHARE",
    "NM_LOCK",
    "FREE_ALL"};
constexpr std::array<std::string_view, 3> kNfsAcl3 = {"", "GETACL", "SETACL"};

constexpr std::array<NfsProtocol, 4> kProtocols = {NfsProtocol::kNfs3, NfsProtocol::kNfs4,
                                                   NfsProtocol::kNlm4, NfsProtocol::kNfsAcl3};

std::span<const std::string_view> names_of(NfsProtocol protocol) {
  switch (protocol) {
    case NfsProtocol::kNfs3: return kNfs3;
    case NfsProtocol::kNfs4: return kNfs4;
    case NfsProtocol::kNlm4: return kNlm4;
    case NfsProtocol::kNfsAcl3: return kNfsAcl3;
  }
  return {};
}

std::optional<NfsProtocol> protocol_of(std::uint32_t program, std::uint32_t version) {
  if (program == 100003 && version == 3) return NfsProtocol::kNfs3;
  if (program == 100003 && version == 4) return NfsProtocol::kNfs4;
  if (program == 100021 && version == 4) return NfsProtocol::kNlm4;
  if (program == 100227 && version == 3) return NfsProtocol::kNfsAcl3;
  return std::nullopt;
}

}  // namespace

std::optional<NfsOperation> nfs_operation(std::uint32_t program, std::uint32_t version,
                                          std::uint32_t number) {
  const auto protocol = protocol_of(program, version);
  if (!protocol) return std::nullopt;
  const auto names = names_of(*protocol);
  if (number >= names.size() || names[number].empty()) return std::nullopt;
  return NfsOperation{*protocol, static_cast<std::uint8_t>(number)};
}

std::string_view name_of(const NfsOperation& operation) {
  const auto names = names_of(operation.protocol);
  return operation.number < names.size() ? names[operation.number] : std::string_view();
}

std::string_view name_of(NfsProtocol protocol) {
  switch (protocol) {
    case NfsProtocol::kNfs3: return "nfs3";
    case NfsProtocol::kNfs4: return "nfs4";
    case NfsProtocol::kNlm4: return "nlm4";
    case NfsProtocol::kNfsAcl3: return "nfsacl3";
  }
  return "";
}

std::string text_of(const NfsOperation& operation) {
  return std::string(name_of(operation.protocol)) + '.' + std::string(name_of(operation));
}

std::optional<NfsOperation> operation_from(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot + 1 == text.size()) return std::nullopt;
  for (const NfsProtocol protocol : kProtocols) {
    if (text.substr(0, dot) != name_of(protocol)) continue;
    const auto names = names_of(protocol);
    for (std::size_t number = 0; number < names.size(); ++number) {
      if (names[number] == text.substr(dot + 1))
        return NfsOperation{protocol, static_cast<std::uint8_t>(number)};
    }
  }
  return std::nullopt;
}

}  // namespace symnas::fs

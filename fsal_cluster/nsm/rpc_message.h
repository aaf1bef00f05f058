// Messages of ONC RPC version 2 (RFC 5531). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace symnas::nsm {

struct RpcCall {
  std::uint32_t xid = 0;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::string arguments;
};
std::string encode_call(const RpcCall& call);  // AUTH_NONE
// nullopt: not a call of this version of RPC. Credentials are ignored.
std::optional<RpcCall> decode_call(std::string_view message);

enum class AcceptState : std::uint32_t {
  kSuccess = 0,
  kProgramUnavailable = 1,
  kProgramMismatch = 2,
  kProcedureUnavailable = 3,
  kGarbageArguments = 4,
};
// Encodes a reply. kProgramMismatch says that only version 1 is there.
std::string encode_reply(std::uint32_t xid, AcceptState state, std::string_view results);

struct RpcReply {
  std::uint32_t xid = 0;
  bool succeeded = false;
  std::string results;  // when succeeded
};
std::optional<RpcReply> decode_reply(std::string_view message);

// The mark before a message in a stream, for a message of one fragment (RFC 5531 section 11).
std::string record_mark(std::size_t message_bytes);
// The length that a mark says; nullopt: this is not the last fragment of its message.
std::optional<std::uint32_t> fragment_bytes(std::string_view mark);

// --- calls that the status monitor makes

// PMAPPROC_SET (RFC 1833 section 3).
enum class Transport : std::uint32_t { kTcp = 6, kUdp = 17 };
RpcCall portmap_set(std::uint32_t xid, Transport transport, std::uint16_t port);
// RPCBPROC_SET of version 4 (RFC 1833 section 2): the same for IPv6.
RpcCall rpcbind_set(std::uint32_t xid, Transport transport, std::uint16_t port);
// For tests: SM_NOTIFY to a status monitor (XNFS chapter 11), as clients send it.
RpcCall sm_notify(std::uint32_t xid, std::string_view name, std::int32_t state);
// NLMPROC4_SM_NOTIFY to an NLM: the call by which its status monitor tells it of a notice.
RpcCall nlm_sm_notify(std::uint32_t xid, std::string_view name, std::int32_t state);

inline constexpr std::uint32_t kNsmProgram = 100024;
inline constexpr std::uint32_t kNsmVersion = 1;
inline constexpr std::uint32_t kSmNotify = 6;

}  // namespace symnas::nsm

#include "fsal_cluster/nsm/rpc_message.h"

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "fsal_cluster/nsm/limits.h"
#include "fsal_cluster/nsm/xdr.h"

namespace symnas::nsm {
namespace {

constexpr std::uint32_t kRpcVersion = 2;
constexpr std::uint32_t kCall = 0;
constexpr std::uint32_t kReply = 1;
constexpr std::uint32_t kAccepted = 0;
constexpr std::uint32_t kAuthNone = 0;
constexpr std::uint32_t kLastFragment = 0x80000000;

constexpr std::uint32_t kPortmapProgram = 100000;
constexpr std::uint32_t kPortmapVersion = 2;
constexpr std::uint32_t kPortmapSet = 1;
constexpr std::uint32_t kRpcbindVersion = 4;
constexpr std::uint32_t kRpcbindSet = 1;
constexpr std::uint32_t kNlmProgram = 100021;
constexpr std::uint32_t kNlmVersion = 4;
constexpr std::uint32_t kNlmSmNotify = 16;
constexpr std::size_t kPrivateBytes = 16;

void put_no_auth(XdrWriter& out) {
  out.put_u32(kAuthNone);
  out.put_u32(0);
}

void skip_auth(XdrReader& in) {
  in.u32();
  in.string(kAuthBytesMax);
}

RpcCall portmap(std::uint32_t xid, std::uint32_t procedure, Transport transport,
                std::uint16_t port) {
  XdrWriter out;
  out.put_u32(kNsmProgram);
  out.put_u32(kNsmVersion);
  out.put_u32(static_cast<std::uint32_t>(transport));
  out.put_u32(port);
  return {xid, kPortmapProgram, kPortmapVersion, procedure, out.take()};
}

RpcCall rpcbind(std::uint32_t xid, std::uint32_t procedure, Transport transport,
                std::string_view address) {
  XdrWriter out;
  out.put_u32(kNsmProgram);
  out.put_u32(kNsmVersion);
  out.put_string(transport == Transport::kUdp ? "udp6" : "tcp6");
  out.put_string(address);
  out.put_string("");  // owner
  return {xid, kPortmapProgram, kRpcbindVersion, procedure, out.take()};
}

}  // namespace

std::string encode_call(const RpcCall& call) {
  XdrWriter out;
  for (const std::uint32_t word :
       {call.xid, kCall, kRpcVersion, call.program, call.version, call.procedure})
    out.put_u32(word);
  put_no_auth(out);
  put_no_auth(out);
  return out.take() + call.arguments;
}

std::optional<RpcCall> decode_call(std::string_view message) {
  XdrReader in(message);
  RpcCall call;
  call.xid = in.u32();
  if (in.u32() != kCall || in.u32() != kRpcVersion) return std::nullopt;
  call.program = in.u32();
  call.version = in.u32();
  call.procedure = in.u32();
  skip_auth(in);
  skip_auth(in);
  if (in.failed()) return std::nullopt;
  call.arguments = in.left();
  return call;
}

std::string encode_reply(std::uint32_t xid, AcceptState state, std::string_view results) {
  XdrWriter out;
  out.put_u32(xid);
  out.put_u32(kReply);
  out.put_u32(kAccepted);
  put_no_auth(out);
  out.put_u32(static_cast<std::uint32_t>(state));
  if (state == AcceptState::kProgramMismatch) {
    out.put_u32(kNsmVersion);
    out.put_u32(kNsmVersion);
  }
  return out.take() + std::string(results);
}

std::optional<RpcReply> decode_reply(std::string_view message) {
  XdrReader in(message);
  RpcReply reply;
  reply.xid = in.u32();
  if (in.u32() != kReply || in.failed()) return std::nullopt;
  if (in.u32() != kAccepted) return reply;
  skip_auth(in);
  const std::uint32_t state = in.u32();
  reply.succeeded = !in.failed() && state == static_cast<std::uint32_t>(AcceptState::kSuccess);
  if (reply.succeeded) reply.results = in.left();
  return reply;
}

std::string record_mark(std::size_t message_bytes) {
  std::string mark;
  append_be32(mark, kLastFragment | static_cast<std::uint32_t>(message_bytes));
  return mark;
}

std::optional<std::uint32_t> fragment_bytes(std::string_view mark) {
  const std::uint32_t word = read_be32(mark, 0);
  if ((word & kLastFragment) == 0) return std::nullopt;
  return word & ~kLastFragment;
}

RpcCall portmap_set(std::uint32_t xid, Transport transport, std::uint16_t port) {
  return portmap(xid, kPortmapSet, transport, port);
}

RpcCall rpcbind_set(std::uint32_t xid, Transport transport, std::uint16_t port) {
  return rpcbind(xid, kRpcbindSet, transport, fmt::format("::.{}.{}", port >> 8, port & 0xff));
}

RpcCall sm_notify(std::uint32_t xid, std::string_view name, std::int32_t state) {
  XdrWriter out;
  out.put_string(name);
  out.put_i32(state);
  return {xid, kNsmProgram, kNsmVersion, kSmNotify, out.take()};
}

RpcCall nlm_sm_notify(std::uint32_t xid, std::string_view name, std::int32_t state) {
  XdrWriter out;
  out.put_string(name);
  out.put_i32(state);
  out.put_fixed(std::string(kPrivateBytes, '\0'));
  return {xid, kNlmProgram, kNlmVersion, kNlmSmNotify, out.take()};
}

}  // namespace symnas::nsm

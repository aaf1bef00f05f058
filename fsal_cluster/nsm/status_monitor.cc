#include "fsal_cluster/nsm/status_monitor.h"

#include <fmt/core.h>

#include "fsal_cluster/nsm/limits.h"
#include "fsal_cluster/nsm/rpc_message.h"
#include "fsal_cluster/nsm/xdr.h"

namespace symnas::nsm {
namespace {

constexpr std::uint32_t kNull = 0;
constexpr std::uint32_t kSmStat = 1;
constexpr std::uint32_t kSmMon = 2;
constexpr std::uint32_t kSmUnmon = 3;
constexpr std::uint32_t kSmUnmonAll = 4;
constexpr std::uint32_t kSmSimuCrash = 5;
constexpr std::uint32_t kStatFail = 1;

std::string sm_stat_res(std::int32_t state) {
  XdrWriter out;
  out.put_u32(kStatFail);
  out.put_i32(state);
  return out.take();
}

std::string sm_stat(std::int32_t state) {
  XdrWriter out;
  out.put_i32(state);
  return out.take();
}

Reply notified(const RpcCall& call, const Peer& peer, const Clients& clients) {
  XdrReader in(call.arguments);
  in.string(kNameBytesMax);  // the name that the client gives itself does not matter
  const std::int32_t state = in.i32();
  if (in.failed()) return {encode_reply(call.xid, AcceptState::kGarbageArguments, ""), {}, {}};
  Reply out{encode_reply(call.xid, AcceptState::kSuccess, ""), {}, {}};
  const bool trusted = peer.port < kReservedPortsEnd;
  if (trusted) clients.note({peer.address, state});
  if (!clients.has_locks(peer.address)) {
    out.refused = "it has no locks here";
  } else if (!trusted) {
    out.refused = fmt::format("it was sent from port {}, which any user may do", peer.port);
  } else {
    out.reboot = Reboot{peer.address, state};
  }
  return out;
}

}  // namespace

Reply answer(std::string_view message, const Peer& peer, std::int32_t state,
             const Clients& clients) {
  const auto call = decode_call(message);
  if (!call) return {};
  const auto reply = [&](AcceptState accept, std::string_view results) {
    return Reply{encode_reply(call->xid, accept, results), {}, {}};
  };
  if (call->program != kNsmProgram) return reply(AcceptState::kProgramUnavailable, "");
  if (call->version != kNsmVersion) return reply(AcceptState::kProgramMismatch, "");
  switch (call->procedure) {
    case kNull:
    case kSmSimuCrash: return reply(AcceptState::kSuccess, "");
    case kSmStat:
    case kSmMon: return reply(AcceptState::kSuccess, sm_stat_res(state));
    case kSmUnmon:
    case kSmUnmonAll: return reply(AcceptState::kSuccess, sm_stat(state));
    case kSmNotify: return notified(*call, peer, clients);
    default: return reply(AcceptState::kProcedureUnavailable, "");
  }
}

}  // namespace symnas::nsm

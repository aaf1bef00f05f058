#include "common/kv/etcd/etcd_membership.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "common/base/check.h"
#include "common/kv/etcd/errors.h"
#include "common/kv/etcd/limits.h"
#include "common/kv/etcd/members.h"

namespace symnas::kv {
namespace {

using Clock = std::chrono::steady_clock;

gpr_timespec after(Clock::duration left) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(left).count();
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_micros(micros, GPR_TIMESPAN));
}

template <class Repeated>
std::vector<StoreMember> members_of(const Repeated& members) {
  std::vector<StoreMember> out;
  for (const etcdserverpb::Member& member : members) {
    StoreMember& next = out.emplace_back();
    next.id = member.id();
    next.name = member.name();
    if (member.peerurls_size() > 0) next.peer_url = member.peerurls(0);
    if (member.clienturls_size() > 0) next.client_url = member.clienturls(0);
    if (member.islearner()) next.role = StoreMember::Role::kLearner;
  }
  return out;
}

// etcd's refusals: server/etcdserver/api/v3rpc/util.go (toGRPCErrorMap), rpctypes/error.go.
Error error_for(const grpc::Status& status, Request request) {
  Error error = error_of(status, request);
  switch (status.error_code()) {
    case grpc::StatusCode::FAILED_PRECONDITION: error.code = ErrorCode::kBusy; break;
    case grpc::StatusCode::NOT_FOUND: error.code = ErrorCode::kNotFound; break;
    case grpc::StatusCode::UNAVAILABLE:
      // etcd refused it before it was proposed.
      if (status.error_message().find("unhealthy cluster") != std::string::npos) {
        error.code = ErrorCode::kBusy;
        error.message += " (a member has not been connected for 5 s: start it, or try again)";
      }
      break;
    default: break;
  }
  return error;
}

}  // namespace

class EtcdMembership::Channels {
 public:
  explicit Channels(const etcd::Connection& connection) : members_(connection) {}

  // Makes one call to a member that is connected; a read asks the next member when this one does
  // not answer.
  template <class Response, class Ask>
  Result<Response> call(Request request, const Ask& ask) {
    const bool reads = request == Request::kReadOnly;
    const auto deadline =
        Clock::now() + std::chrono::milliseconds(reads ? kMembersReadMs : kMembershipDeadlineMs);
    Error last{ErrorCode::kUnavailable, "etcd: no member can be reached"};
    std::vector<bool> asked(members_.size());
    do {
      for (std::size_t i = 0; i < members_.size(); ++i) {
        const auto& channel = members_.at(i).channel;
        if (asked[i] || channel->GetState(/*try_to_connect=*/true) != GRPC_CHANNEL_READY) continue;
        asked[i] = true;
        etcdserverpb::Cluster::Stub stub(channel);
        grpc::ClientContext context;
        const auto left = deadline - Clock::now();
        const Clock::duration a_try = std::chrono::milliseconds(kTryTimeoutMs);
        context.set_deadline(after(reads ? std::min(left, a_try) : left));
        Response answer;
        const grpc::Status status = ask(stub, context, answer);
        if (status.ok()) return answer;
        last = error_for(status, request);
        if (!reads || !blames_member(last)) return tl::unexpected<Error>(last);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(kWaitingTickMs));
    } while (Clock::now() < deadline &&
             std::find(asked.begin(), asked.end(), false) != asked.end());
    return tl::unexpected<Error>(last);
  }

 private:
  etcd::Members members_;  // const after its construction: channels are thread-safe
};

EtcdMembership::EtcdMembership(std::unique_ptr<Channels> channels)
    : channels_(std::move(channels)) {}
EtcdMembership::~EtcdMembership() = default;

Result<std::unique_ptr<EtcdMembership>> EtcdMembership::open(const EtcdOptions& options) {
  CHECK(options.network_namespace.empty());
  SYMNAS_ASSIGN(const etcd::Connection connection, etcd::read_connection(options));
  return std::unique_ptr<EtcdMembership>(
      new EtcdMembership(std::make_unique<Channels>(connection)));
}

Result<std::vector<StoreMember>> EtcdMembership::members() {
  etcdserverpb::MemberListRequest request;
  request.set_linearizable(true);
  SYMNAS_ASSIGN(const auto answer, channels_->call<etcdserverpb::MemberListResponse>(
                                       Request::kReadOnly, [&](auto& stub, auto& context, auto& a) {
                                         return stub.MemberList(&context, request, &a);
                                       }));
  return members_of(answer.members());
}

Result<std::vector<StoreMember>> EtcdMembership::add_learner(const std::string& peer_url) {
  etcdserverpb::MemberAddRequest request;
  request.add_peerurls(peer_url);
  request.set_islearner(true);
  SYMNAS_ASSIGN(const auto answer, channels_->call<etcdserverpb::MemberAddResponse>(
                                       Request::kMayWrite, [&](auto& stub, auto& context, auto& a) {
                                         return stub.MemberAdd(&context, request, &a);
                                       }));
  return members_of(answer.members());
}

Status EtcdMembership::promote(std::uint64_t id) {
  etcdserverpb::MemberPromoteRequest request;
  request.set_id(id);
  SYMNAS_TRY(channels_->call<etcdserverpb::MemberPromoteResponse>(
      Request::kMayWrite, [&](auto& stub, auto& context, auto& a) {
        return stub.MemberPromote(&context, request, &a);
      }));
  return {};
}

Status EtcdMembership::remove(std::uint64_t id) {
  etcdserverpb::MemberRemoveRequest request;
  request.set_id(id);
  SYMNAS_TRY(channels_->call<etcdserverpb::MemberRemoveResponse>(
      Request::kMayWrite, [&](auto& stub, auto& context, auto& a) {
        return stub.MemberRemove(&context, request, &a);
      }));
  return {};
}

}  // namespace symnas::kv

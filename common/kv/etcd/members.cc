#include "common/kv/etcd/members.h"

#include <arpa/inet.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "common/kv/etcd/limits.h"

namespace symnas::kv::etcd {

namespace {

Result<std::string> read_file(const std::string& path, std::string_view what) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in || text.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "etcd: cannot read the " + std::string(what) + " file " + path);
  }
  return text;
}

Result<Target> parse_endpoint(const std::string& endpoint) {
  Target target{.endpoint = endpoint};
  std::string_view rest = endpoint;
  const auto skip = [&rest](std::string_view prefix) {
    if (!rest.starts_with(prefix)) return false;
    rest.remove_prefix(prefix.size());
    return true;
  };
  if (skip("https://")) {
    target.security = Target::Security::kTls;
  } else if (!skip("http://")) {
    return fail(ErrorCode::kInvalidArgument,
                "etcd endpoint " + endpoint + ": must begin with https:// or http://");
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size() ||
      rest.find_first_not_of("0123456789", colon + 1) != std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument, "etcd endpoint " + endpoint + ": no host:port");
  }
  // An address needs no resolver, which could be slow.
  in_addr ipv4;
  target.host = rest.substr(0, colon);
  target.address = inet_pton(AF_INET, target.host.c_str(), &ipv4) == 1 ? "ipv4:" : "";
  target.address += rest;
  if (target.host.starts_with('[') && target.host.ends_with(']'))
    target.host = target.host.substr(1, target.host.size() - 2);
  return target;
}

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  // A watch that catches up gets up to 1,000 revisions in one message.
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // no limit of our own
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectFirstMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);  // gRPC's name for it
  // One try is one send; the caller decides whether to send again.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // Stores of one process do not share connections: closing one disturbs no other.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

bool ready(const Member& member) {
  return member.channel->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY;
}

}  // namespace

Result<Connection> read_connection(const EtcdOptions& options) {
  Connection connection;
  if (options.endpoints.empty() || options.endpoints.size() > kEndpointsMax) {
    return fail(ErrorCode::kInvalidArgument, "etcd: give 1 to 16 endpoints");
  }
  bool tls = false;
  for (const std::string& endpoint : options.endpoints) {
    SYMNAS_ASSIGN(Target target, parse_endpoint(endpoint));
    tls = tls || target.security == Target::Security::kTls;
    connection.targets.push_back(std::move(target));
  }
  if (!tls) return connection;
  if (options.ca_file.empty()) {
    return fail(ErrorCode::kInvalidArgument, "etcd: an https endpoint needs a CA file");
  }
  if (options.cert_file.empty() != options.key_file.empty()) {
    return fail(ErrorCode::kInvalidArgument, "etcd: certificate and key belong together");
  }
  SYMNAS_ASSIGN(connection.tls.pem_root_certs, read_file(options.ca_file, "CA"));
  if (!options.cert_file.empty()) {
    SYMNAS_ASSIGN(connection.tls.pem_cert_chain, read_file(options.cert_file, "certificate"));
    SYMNAS_ASSIGN(connection.tls.pem_private_key, read_file(options.key_file, "key"));
  }
  return connection;
}

Members::Members(const Connection& connection) {
  const grpc::ChannelArguments arguments = channel_arguments();
  for (const Target& target : connection.targets) {
    Member member;
    member.index = members_.size();
    member.endpoint = target.endpoint;
    member.host = target.host;
    member.channel = grpc::CreateCustomChannel(target.address,
                                               target.security == Target::Security::kTls
                                                   ? grpc::SslCredentials(connection.tls)
                                                   : grpc::InsecureChannelCredentials(),
                                               arguments);
    member.kv = etcdserverpb::KV::NewStub(member.channel);
    member.watch = etcdserverpb::Watch::NewStub(member.channel);
    member.maintenance = etcdserverpb::Maintenance::NewStub(member.channel);
    members_.push_back(std::move(member));
  }
  keep_connecting();
}

Member* Members::connected() {
  const SteadyTime now = std::chrono::steady_clock::now();
  if (may_still_take_first(now)) return nullptr;
  const std::size_t first = current_.load();
  Member* found = nullptr;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[(first + i) % members_.size()];
    if (!ready(member)) continue;
    const bool left = now < member.left_until;
    if (found == nullptr || !left) found = &member;
    if (!left) break;
  }
  if (found == nullptr) return nullptr;
  std::size_t expected = first;
  current_.compare_exchange_strong(expected, found->index);
  return found;
}

bool Members::may_still_take_first(SteadyTime now) {
  if (settled_) return false;
  const grpc_connectivity_state state = members_.front().channel->GetState(true);
  settled_ = state != GRPC_CHANNEL_IDLE && state != GRPC_CHANNEL_CONNECTING;
  if (settled_ || std::ranges::none_of(members_, ready)) return false;
  if (!another_since_) another_since_ = now;
  settled_ = now - *another_since_ >= std::chrono::milliseconds(kFirstChoiceMs);
  return !settled_;
}

void Members::keep_connecting() {
  for (Member& member : members_) {
    static_cast<void>(member.channel->GetState(/*try_to_connect=*/true));
  }
}

void Members::failed(std::size_t index) {
  std::size_t expected = index;
  current_.compare_exchange_strong(expected, (index + 1) % members_.size());
}

void Members::leave(std::size_t index) {
  failed(index);
  members_.at(index).left_until = std::chrono::steady_clock::now() +
                                  std::chrono::milliseconds(kKeepaliveTimeMs + kKeepaliveTimeoutMs);
}

}  // namespace symnas::kv::etcd

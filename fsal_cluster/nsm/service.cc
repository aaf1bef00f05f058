#include "fsal_cluster/nsm/service.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <random>
#include <utility>

#include "common/base/check.h"
#include "common/base/log.h"
#include "fsal_cluster/nsm/limits.h"
#include "fsal_cluster/nsm/rpc_message.h"
#include "fsal_cluster/nsm/sockets.h"

namespace symnas::nsm {
namespace {

constexpr std::size_t kMarkBytes = 4;

// Releases the locks through the NLM, whose reply cannot say that something was not recorded.
Status release_locks(const Reboot& reboot, const ServiceOptions& options) {
  const std::uint32_t xid = std::random_device()();
  SYMNAS_TRY(
      call_loopback(kNlmPort, nlm_sm_notify(xid, reboot.address, reboot.state), kNlmTimeoutMs));
  if (options.is_released(reboot.address)) return {};
  return fail(ErrorCode::kUnavailable, "the release cannot be recorded now");
}

}  // namespace

std::int32_t state_of_epoch(std::uint64_t epoch) {
  return static_cast<std::int32_t>((2 * epoch + 1) & 0x7fffffff);
}

Result<std::unique_ptr<Service>> Service::start(ServiceOptions options) {
  SYMNAS_ASSIGN(UniqueFd udp, open_udp(kNsmPort));
  SYMNAS_ASSIGN(UniqueFd tcp, listen_tcp(kNsmPort));
  for (const Transport transport : {Transport::kUdp, Transport::kTcp}) {
    const Status registered = register_port(transport, kNsmPort);
    if (!registered) log::error("{}", registered.error().message);
  }
  return std::unique_ptr<Service>(new Service(std::move(options), std::move(udp), std::move(tcp)));
}

Service::Service(ServiceOptions options, UniqueFd udp, UniqueFd tcp)
    : options_(std::move(options)),
      udp_(std::move(udp)),
      tcp_(std::move(tcp)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      reboots_([this](const Reboot& reboot) { return release_locks(reboot, options_); }) {
  CHECK(wake_.valid(), "eventfd");
  thread_ = std::thread([this] { run(); });
}

Service::~Service() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void Service::run() {
  for (;;) {
    std::vector<pollfd> entries = {
        {wake_.get(), POLLIN, 0}, {udp_.get(), POLLIN, 0}, {tcp_.get(), POLLIN, 0}};
    for (const Connection& connection : connections_)
      entries.push_back({connection.fd->get(), POLLIN, 0});
    ::poll(entries.data(), entries.size(), -1);
    {
      const MutexLock lock(mutex_);
      if (stop_) return;
    }
    eventfd_t count = 0;
    ::eventfd_read(wake_.get(), &count);
    auto connection = connections_.begin();
    for (std::size_t at = 3; at < entries.size(); ++at) {
      const auto present = connection++;
      if (entries[at].revents != 0 && !answer_stream(*present)) connections_.erase(present);
    }
    if (entries[1].revents != 0) answer_datagram();
    if (entries[2].revents != 0) accept_connection();
  }
}

void Service::give(const Reply& reply, const Peer& peer,
                   std::function<void(const std::string&)> send) {
  if (!reply.refused.empty()) {
    // Anybody may send such messages: equal ones in a row are logged once.
    std::string refused = peer.address + ": not obeyed: " + reply.refused;
    if (refused != last_refused_) log::info("SM_NOTIFY from {}", refused);
    last_refused_ = std::move(refused);
  }
  if (reply.message.empty()) return;
  if (!reply.reboot) return send(reply.message);
  reboots_.add(*reply.reboot, [message = reply.message, send = std::move(send)] { send(message); });
}

void Service::answer_datagram() {
  const auto datagram = receive(udp_.get());
  if (!datagram) return;
  const Peer peer = datagram->peer();
  give(answer(datagram->bytes, peer, options_.state, options_.clients), peer,
       [this, question = *datagram](const std::string& reply) {
         reply_to(udp_.get(), question, reply);
       });
}

void Service::accept_connection() {
  sockaddr_in6 from{};
  socklen_t size = sizeof from;
  UniqueFd fd(::accept4(tcp_.get(), reinterpret_cast<sockaddr*>(&from), &size,
                        SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.valid()) return;
  if (connections_.size() >= kConnectionsMax) connections_.pop_front();
  connections_.push_back({std::make_shared<UniqueFd>(std::move(fd)), peer_of(from), ""});
}

bool Service::answer_stream(Connection& connection) {
  char buffer[1024];
  const ssize_t size = ::recv(connection.fd->get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (size <= 0) return size < 0 && (errno == EAGAIN || errno == EINTR);
  connection.input.append(buffer, static_cast<std::size_t>(size));
  while (connection.input.size() >= kMarkBytes) {
    const auto bytes = fragment_bytes(connection.input);
    if (!bytes || *bytes > kMessageBytesMax) return false;
    if (connection.input.size() < kMarkBytes + *bytes) return true;
    const std::string message = connection.input.substr(kMarkBytes, *bytes);
    connection.input.erase(0, kMarkBytes + *bytes);
    give(answer(message, connection.peer, options_.state, options_.clients), connection.peer,
         [fd = connection.fd](const std::string& reply) {
           const std::string record = record_mark(reply.size()) + reply;
           (void)::send(fd->get(), record.data(), record.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
         });
  }
  return true;
}

}  // namespace symnas::nsm

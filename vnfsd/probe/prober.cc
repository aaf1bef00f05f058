#include "vnfsd/probe/prober.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "common/base/check.h"
#include "common/base/log.h"
#include "ha/detection/probe.h"

namespace symnas::vnfsd::probe {
namespace {

constexpr std::size_t kDatagramsPerTurn = 256;  // a flood is not to keep us from sending

// Dual-stack: IPv4 addresses as mapped ones (RFC 4291, 2.5.5.2).
sockaddr_in6 socket_address(const IpAddress& address, std::uint16_t port) {
  sockaddr_in6 out{};
  out.sin6_family = AF_INET6;
  out.sin6_port = htons(port);
  if (address.family == AddressFamily::kIpv6) {
    std::copy_n(address.bytes.begin(), 16, out.sin6_addr.s6_addr);
  } else {
    out.sin6_addr.s6_addr[10] = out.sin6_addr.s6_addr[11] = 0xff;
    std::copy_n(address.bytes.begin(), 4, out.sin6_addr.s6_addr + 12);
  }
  return out;
}

bool is_from(const IpAddress& address, const sockaddr_in6& from) {
  const sockaddr_in6 known = socket_address(address, 0);
  return std::memcmp(&known.sin6_addr, &from.sin6_addr, sizeof from.sin6_addr) == 0;
}

UniqueFd open_socket(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int no = 0;
  const sockaddr_in6 any = socket_address({AddressFamily::kIpv6, {}}, port);
  if (!fd.valid() || ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) {
    log::error("UDP port {}: {}: heads do not hear each other, so none is missed", port,
               std::strerror(errno));
    return UniqueFd();
  }
  return fd;
}

}  // namespace

Prober::Prober(std::string head, std::string incarnation, const env::Clock& clock,
               std::uint16_t port)
    : head_(std::move(head)),
      incarnation_(std::move(incarnation)),
      clock_(clock),
      port_(port),
      socket_(open_socket(port)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(wake_.valid(), "eventfd");
  // Above the last one of this boot's earlier agents, without remembering it.
  sequence_ = static_cast<std::uint64_t>(clock_.mono_ns());
  if (socket_.valid()) thread_ = std::thread([this] { run(); });
}

Prober::~Prober() {
  ending_.store(true);
  ::eventfd_write(wake_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void Prober::set_peers(std::map<std::string, Peer> peers, std::string key) {
  const MutexLock lock(mutex_);
  peers_ = std::move(peers);
  key_ = std::move(key);
}

std::vector<ha::PeerSight> Prober::sights() const {
  const MutexLock lock(mutex_);
  return sights_;
}

std::optional<ha::ClockSpread::Sight> Prober::clocks() const {
  const MutexLock lock(mutex_);
  return clocks_.look(clock_.wall_ns(), clock_.mono_ns());
}

void Prober::run() {
  const sched_param priority{1};
  if (::pthread_setschedparam(::pthread_self(), SCHED_RR, &priority) != 0) {
    log::debug("probes: no real-time priority");
  }
  std::int64_t next_ms = 0;
  while (!ending_.load()) {
    std::int64_t now_ms = clock_.mono_ns() / 1'000'000;
    if (now_ms >= next_ms) {
      next_ms = now_ms + ha::kProbeMs;
      send_probes(now_ms);
    }
    pollfd entries[] = {{socket_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    ::poll(entries, 2, static_cast<int>(std::max<std::int64_t>(next_ms - now_ms, 0)));
    now_ms = clock_.mono_ns() / 1'000'000;
    hear(now_ms);  // before looking: what came while this head slept counts
    auto seen = watch_.look(now_ms);
    const MutexLock lock(mutex_);
    sights_ = std::move(seen);
  }
}

void Prober::send_probes(std::int64_t now_ms) {
  const MutexLock lock(mutex_);
  if (key_.empty()) return;
  const std::string datagram = ha::render_probe({++sequence_, head_, incarnation_}, key_);
  std::string clock;  // what this head's shows, when it is time to say it
  if (now_ms - clock_said_ms_ >= ha::kClockSayMs) {
    clock_said_ms_ = now_ms;
    clock = ha::render_clock({sequence_, head_, incarnation_}, clock_.wall_ns(), key_);
  }
  std::set<std::string> names;
  for (const auto& [name, peer] : peers_) {
    names.insert(name);
    if (!peer.incarnation.empty()) watch_.expect(name, peer.incarnation, now_ms);
    send_to(peer, datagram);
    if (!clock.empty()) send_to(peer, clock);
  }
  watch_.keep_only(names);
  clocks_.keep_only(names);
}

void Prober::send_to(const Peer& peer, const std::string& datagram) {
  for (const IpAddress& address : peer.addresses) {
    const sockaddr_in6 to = socket_address(address, port_);
    // A probe that cannot be sent is missed over there.
    (void)::sendto(socket_.get(), datagram.data(), datagram.size(), 0,
                   reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
}

void Prober::hear_clock(std::string_view datagram, const sockaddr_in6& from) {
  const auto said = ha::parse_clock(datagram, key_);
  if (!said) return;
  const auto peer = peers_.find(said->probe.head);
  if (peer == peers_.end() || peer->second.incarnation != said->probe.incarnation) return;
  const auto is_its = [&](const IpAddress& address) { return is_from(address, from); };
  if (std::ranges::none_of(peer->second.addresses, is_its)) return;
  std::uint64_t& last = clocks_heard_[said->probe.incarnation];
  if (said->probe.sequence <= last) return;  // by another path, or of before, once more
  last = said->probe.sequence;
  clocks_.heard(said->probe.head, said->wall_ns, clock_.mono_ns());
}

void Prober::hear(std::int64_t now_ms) {
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < kDatagramsPerTurn; ++i) {
    char buffer[ha::kProbeBytesMax];
    sockaddr_in6 from{};
    socklen_t size = sizeof from;
    const ssize_t length = ::recvfrom(socket_.get(), buffer, sizeof buffer, 0,
                                      reinterpret_cast<sockaddr*>(&from), &size);
    if (length < 0) return;
    if (key_.empty()) continue;
    const std::string_view datagram(buffer, static_cast<std::size_t>(length));
    const auto probe = ha::parse_probe(datagram, key_);
    if (!probe) {
      hear_clock(datagram, from);
      continue;
    }
    const auto peer = peers_.find(probe->head);
    if (peer == peers_.end() || peer->second.incarnation != probe->incarnation) continue;
    std::size_t path = 0;
    const std::vector<IpAddress>& addresses = peer->second.addresses;
    while (path < addresses.size() && !is_from(addresses[path], from)) ++path;
    if (path == addresses.size()) continue;  // not an address of that head
    std::uint64_t& last = heard_[{probe->incarnation, path}];
    if (probe->sequence <= last) continue;  // one of before, once more
    last = probe->sequence;
    watch_.heard(probe->head, probe->incarnation, path, now_ms);
  }
}

}  // namespace symnas::vnfsd::probe

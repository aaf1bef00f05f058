// Prober: this head's probes to all others, and theirs to it (ha/detection). Thread class:
// thread-safe; works on a thread of its own, at a real-time priority where that is allowed: a busy
// machine is not to look like a dead one. HeadSights is what an agent needs of it.
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/thread_annotations.h"
#include "common/base/unique_fd.h"
#include "common/env/clock.h"
#include "ha/detection/clock_spread.h"
#include "ha/detection/peer_watch.h"
#include "vnfsd/network/net_address.h"

namespace symnas::vnfsd::probe {

// Thread class: thread-safe.
class HeadSights {
 public:
  virtual ~HeadSights() = default;

  struct Peer {
    std::string incarnation;           // the boot that is registered: no other is listened to
    std::vector<IpAddress> addresses;  // one per network, in the same order on every head
  };
  // The other heads, by name, and the cluster's key.
  virtual void set_peers(std::map<std::string, Peer> peers, std::string key) = 0;
  // What the last look has shown.
  virtual std::vector<ha::PeerSight> sights() const = 0;
  // How the heads' clocks compare now; nullopt: no other one was heard of lately.
  virtual std::optional<ha::ClockSpread::Sight> clocks() const { return std::nullopt; }
};

class Prober final : public HeadSights {
 public:
  // Sends nothing before set_peers(). `port`: UDP, the same on all heads.
  Prober(std::string head, std::string incarnation, const env::Clock& clock, std::uint16_t port);
  ~Prober() override;
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  void set_peers(std::map<std::string, Peer> peers, std::string key) override;
  std::vector<ha::PeerSight> sights() const override;
  std::optional<ha::ClockSpread::Sight> clocks() const override;

 private:
  void run();
  void send_probes(std::int64_t now_ms);
  void send_to(const Peer& peer, const std::string& datagram) REQUIRES(mutex_);
  void hear_clock(std::string_view datagram, const sockaddr_in6& from) REQUIRES(mutex_);
  void hear(std::int64_t now_ms);

  const std::string head_;
  const std::string incarnation_;
  const env::Clock& clock_;
  const std::uint16_t port_;
  UniqueFd socket_;
  UniqueFd wake_;                   // eventfd: the end
  std::uint64_t sequence_ = 0;      // confined to the thread
  std::int64_t clock_said_ms_ = 0;  // confined to the thread
  ha::PeerWatch watch_;             // confined to the thread
  // The last sequence number of each boot, by path; confined to the thread.
  std::map<std::pair<std::string, std::size_t>, std::uint64_t> heard_;

  std::map<std::string, std::uint64_t> clocks_heard_;  // the same, of clocks

  mutable Mutex mutex_;  // leaf
  std::map<std::string, Peer> peers_ GUARDED_BY(mutex_);
  std::string key_ GUARDED_BY(mutex_);
  std::vector<ha::PeerSight> sights_ GUARDED_BY(mutex_);
  ha::ClockSpread clocks_ GUARDED_BY(mutex_);
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace symnas::vnfsd::probe

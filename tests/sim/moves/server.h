// Server: a VNFS as its clients reach it: whatever instance serves it, on whatever head. Carries
// calls there and repeats them, as TCP connections and the clients' RPC do; drives what an instance
// does by itself (polling blocked locks, notices, leases).
//
// Thread class: for simulated threads that belong to no instance.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/moves/life.h"

namespace symnas::sim {

// Where the status monitor of a client is reached.
class Statd {
 public:
  virtual ~Statd() = default;
  // A datagram to it, and its reply; "": none.
  virtual std::string datagram(std::uint16_t port, const std::string& message) = 0;
};

class Server {
 public:
  Server(MountWorld& world, std::string vip) : world_(world), vip_(std::move(vip)) {}

  // All instances that follow serve these files.
  void start(std::vector<fs::Handle> files);
  MountWorld& world() { return world_; }
  const std::string& vip() const { return vip_; }
  void add(const std::string& address, Statd* statd) { statds_[address] = statd; }
  // An NFSv4 client that will never be heard of again.
  void nfs4_died(const std::string& client) { nfs4_dead_.insert(client); }

  // Asks until it is answered. nullopt: `*gone` came first; whether it is done is not known.
  struct Reply {
    Answer answer = Answer::kDelay;
    std::uint64_t epoch = 0;   // of the instance that answered
    std::int64_t sent_ns = 0;  // the try that was answered
    bool across_crash =
        false;  // an earlier instance, which has crashed, or its connection had, had it
  };
  std::optional<Reply> call(unsigned client, const Life::Body& body, const bool* gone);
  // A request that the instance of now begins with later; nobody hears the answer.
  void deliver_late(const Life::Body& body);
  // An SM_NOTIFY, once. True: it was answered.
  bool sm_notify(const std::string& address, std::int32_t state);

 private:
  struct Sent;
  bool send(Life& life, const Life::Key& key, const Life::Body& body,
            const std::shared_ptr<Sent>& sent);
  bool wait_for(const Sent& sent, std::uint64_t epoch, const bool* gone);
  void serve_by_itself();
  void poll_waiters(Life& life);
  void send_notices(Life& life);
  void deliver(Life& life, const nsm::Notices::Message& message);

  MountWorld& world_;
  const std::string vip_;
  std::vector<fs::Handle> files_;
  Life* life_ = nullptr;  // of the latest instance; lives as long as the run
  std::map<std::string, Statd*> statds_;
  std::set<std::string> nfs4_dead_;
  std::uint64_t last_xid_ = 0;
};

}  // namespace symnas::sim

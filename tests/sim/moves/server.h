// Server: a VNFS as its clients reach it, whatever instance serves it on whatever head. It carries
// calls to the instance and repeats them, like TCP connections and the clients' RPC; and it drives
// what an instance does by itself (polling of blocked locks, leases).
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

// How instances reach an NLM client by themselves.
class Called {
 public:
  virtual ~Called() = default;
  // It may reclaim what it holds. No instance asks for that; those of earlier versions told their
  // clients of each start, for a quarter of an hour.
  virtual void server_booted() = 0;
  // GRANTED of something that it waited for when an earlier instance ended. False: it does not wait
  // for it (any more).
  virtual bool granted(const LockCall& call) = 0;
};

class Server {
 public:
  Server(MountWorld& world, std::string vip) : world_(world), vip_(std::move(vip)) {}

  // All instances from now on serve these files.
  void start(std::vector<fs::Handle> files);
  MountWorld& world() { return world_; }
  const std::string& vip() const { return vip_; }
  void add(const std::string& address, Called* client) { called_[address] = client; }
  // An NFSv4 client that is never heard of again.
  void nfs4_died(const std::string& client) { nfs4_dead_.insert(client); }

  // Repeats a call until it is answered. nullopt: `*gone` came first; whether it was done is
  // unknown.
  struct Reply {
    CallStatus answer = CallStatus::kDelay;
    std::uint64_t epoch = 0;   // the instance that answered
    std::int64_t sent_ns = 0;  // when the answered try was sent
    bool across_crash =
        false;  // an earlier instance, which has crashed, or its connection had, had it
  };
  std::optional<Reply> call(unsigned client, const Life::Body& body, const bool* gone);
  // A request that the current instance begins later; nobody gets the answer.
  void deliver_late(const Life::Body& body);
  // Sends an SM_NOTIFY, once. True: it was answered.
  bool sm_notify(const std::string& address, std::int32_t state);

 private:
  struct Sent;
  bool send(Life& life, const Life::Key& key, const Life::Body& body,
            const std::shared_ptr<Sent>& sent);
  bool wait_for(const Sent& sent, std::uint64_t epoch, const bool* gone);
  void serve_by_itself();
  void poll_waiters(Life& life);
  void begin(Life& life);

  MountWorld& world_;
  const std::string vip_;
  std::vector<fs::Handle> files_;
  Life* life_ = nullptr;  // of the newest instance; never destroyed
  std::uint64_t begun_epoch_ = 0;
  std::map<std::string, Called*> called_;  // by address
  std::set<std::string> nfs4_dead_;
  std::uint64_t last_xid_ = 0;
};

}  // namespace symnas::sim

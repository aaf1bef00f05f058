// SimStore: the connection of a simulated process to the simulated etcd (MemServer in timed mode).
// Answers and watch events arrive on the store's own thread of the process. What a process has sent
// goes on without it: the transactions of a killed process still arrive.
//
// Thread class: thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/kv/mem/mem_store.h"
#include "tests/sim/inbox.h"
#include "tests/sim/runtime/simulation.h"

namespace symnas::sim {

// The faults between a process and etcd. The simulation changes them as it goes on.
class SimFaults final : public kv::FaultPlan {
 public:
  explicit SimFaults(const kv::FaultWeights& weights);
  kv::TxnFault next_txn(const kv::Txn& txn) override;
  kv::WatchFault next_watch(Revision revision) override;

  // No request arrives, or no answer comes back.
  void set_partitioned(bool partitioned) { partitioned_ = partitioned; }
  // Some transactions with a put are executed, then refused for lack of space (etcd checks its
  // quota again when it applies).
  void set_refuse_late(std::uint64_t per_million) { refuse_late_ppm_ = per_million; }
  bool refuses(const kv::Txn& txn) const;
  // Where to note, for all instances alike, keys that an operation was to erase, and nothing else,
  // and could not because the store had no space.
  void note_unerased(std::shared_ptr<std::set<std::string>> keys) { unerased_ = std::move(keys); }
  void note_erases(const std::vector<std::string>& keys, const Result<kv::TxnResult>& result) const;
  void stop();

  // Draws weights for a seed.
  static kv::FaultWeights draw_weights();

 private:
  kv::SeededFaults faults_;
  bool partitioned_ = false;
  std::uint64_t refuse_late_ppm_ = 0;
  std::shared_ptr<std::set<std::string>> unerased_;  // null: nobody asks
};

class SimStore final : public kv::Store {
 public:
  SimStore(Process& process, const std::shared_ptr<kv::MemServer>& server,
           std::shared_ptr<SimFaults> faults, std::int64_t latency_ns_max);

  void txn(kv::Txn txn, kv::TryOptions options, kv::TxnCallback done) override;
  std::unique_ptr<kv::Watch> watch(kv::KeyRange range, Revision start,
                                   kv::WatchHandler* handler) override;
  Status compact(Revision revision, kv::TryOptions options) override;
  std::vector<kv::MemberStatus> status(kv::TryOptions options) override;

  // The member this store is connected to loses its leader: every watch ends.
  void end_watches();

 private:
  class Relay;
  class RelayWatch;
  const std::shared_ptr<SimFaults> faults_;
  const std::shared_ptr<Inbox> inbox_;
  std::unique_ptr<kv::MemStore> store_;
  std::vector<std::weak_ptr<Relay>> relays_;
  std::uint64_t sent_ = 0;
};

// Every change of the simulated etcd in order, at the moment it happens.
class Observer final : public kv::WatchHandler {
 public:
  using OnRevision = std::function<void(const std::vector<kv::WatchEvent>&, Revision)>;
  Observer(const std::shared_ptr<kv::MemServer>& server, kv::KeyRange range,
           OnRevision on_revision);
  void on_watch_created(Revision /*revision*/) override {}
  void on_watch_events(std::vector<kv::WatchEvent> events, Revision revision) override {
    on_revision_(events, revision);
  }
  void on_watch_ended(Error error) override;

 private:
  const OnRevision on_revision_;
  std::unique_ptr<kv::MemStore> store_;
  std::unique_ptr<kv::Watch> watch_;
};

}  // namespace symnas::sim

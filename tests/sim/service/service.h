// Service: one VNFS, the heads that may serve it, its filesystem, etcd and the disk. It judges what
// its instances do: nothing is answered that was sent to an instance after a later one had shown
// its VIPs, or after the end of its mount was recorded.
//
// Thread class: for simulated threads. Everything of it outlives every process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fsal_cluster/mount/mount.h"
#include "tests/sim/runtime/simulation.h"
#include "tests/sim/sim_lun.h"
#include "tests/sim/sim_store.h"

namespace symnas::sim {

class SimHead;

// A process of the VNFS on a head, as its kernel knows it.
struct Instance {
  std::string head;
  Process* process = nullptr;
  std::shared_ptr<SimFaults> faults;
  SimStore* store = nullptr;
  std::shared_ptr<SimLun> lun;  // since it was called
  fs::Mount* mount = nullptr;   // since it listens
  std::uint64_t epoch = 0;
  Revision owner;      // the record of its claim
  bool waits = false;  // a standby, at its claim
  bool called = false;
  bool retiring = false;  // takes no more requests
  bool closed = false;    // its mount, cleanly
  bool vips = false;      // a client that sends to the VIPs may reach it
  int requests = 0;       // that it works on
  std::int64_t beat_ns = 0;
};

class Service {
 public:
  explicit Service(std::shared_ptr<test::SimDisk> disk);

  // Makes filesystem and records, and boots the heads.
  void start();
  // Returns when an instance serves.
  void wait_served();
  // No more faults; returns when an instance serves.
  void settle();
  // Outlives all heads.
  Process& init() { return init_; }
  bool rough() const { return rough_; }
  void begin_trouble() { rough_ = true; }

  // --- clients
  // An instance that the VIPs lead to now; null: none.
  Instance* reached();
  // Sends a request to it. False: no answer came (it died, or went silent): unknown whether it was
  // done. Blocks for 3 s at most.
  bool ask(Instance& instance, const std::function<void(fs::Mount&)>& request);

  // --- heads
  std::vector<std::unique_ptr<SimHead>>& heads() { return heads_; }
  SimHead* other(const SimHead& head);
  kv::MemServer& server() { return *server_; }
  std::unique_ptr<SimStore> connect(Process& process, const std::shared_ptr<SimFaults>& faults);
  std::shared_ptr<SimFaults> faults();
  std::shared_ptr<SimLun> lun(Process& process);
  fs::MountOptions mount_options(const Instance& instance) const;
  Instance& add_instance(std::unique_ptr<Instance> instance);
  const std::vector<std::unique_ptr<Instance>>& instances() const { return instances_; }
  fs::Handle root() const { return {fs_, fs::kRootIno, Generation{1}}; }
  // VIPs lead to it from now on.
  void shown(Instance& instance);
  // No mount of the VNFS up to this epoch lives, or will live.
  void ended(std::uint64_t epoch);

 private:
  // Why nothing that is sent to the instance from now on may be answered; "": it may.
  std::string why_mute(const Instance& instance) const;

  const std::int64_t latency_ns_max_;
  const kv::FaultWeights weights_;
  const LunFaults lun_faults_;
  std::shared_ptr<kv::MemServer> server_;
  std::shared_ptr<SimArray> array_;
  FsId fs_;
  Process& init_ = new_process("init");
  std::vector<std::unique_ptr<SimHead>> heads_;
  std::vector<std::unique_ptr<Instance>> instances_;
  std::vector<std::shared_ptr<SimFaults>> all_faults_;
  std::uint64_t shown_epoch_ = 0;  // the latest that has shown its VIPs
  std::uint64_t ended_epoch_ = 0;
  bool rough_ = false;
  bool calm_ = false;
};

// A time of 0 to `ms` milliseconds, uniform, in nanoseconds.
inline std::int64_t within_ms(std::uint64_t ms) {
  return static_cast<std::int64_t>(below(ms * 1'000'000 + 1));
}

}  // namespace symnas::sim

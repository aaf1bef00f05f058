// MountWorld: one filesystem, its disk, and the instances of one VNFS that serve it one after
// another. A vnfsd fences an instance that has died (waits for its queue, writes the end records).
// Then it starts the next one, or calls a standby: a process with the next epoch that was started
// before the end of the last instance was proved. Other VNFSs may serve the same filesystem at the
// same time: heads.h.
//
// A standby has its store and has read what needs no claim; it has no LUN and no mount until it is
// called. It may be late, killed, paused or discarded. A standby whose claim was disproved before
// its vnfsd came to call it is called all the same, late, and must never serve.
//
// Thread class: for simulated threads; no thread of an instance.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fsal_cluster/mount/mount.h"
#include "fsal_cluster/state/life_signs.h"
#include "tests/sim/runtime/simulation.h"
#include "tests/sim/sim_lun.h"
#include "tests/sim/sim_store.h"

namespace symnas::sim {

struct MountWorldOptions {
  std::uint64_t volume_bytes = 16 << 20;
  std::uint64_t group_blocks = 256;
  std::shared_ptr<test::SimDisk> disk;  // at least volume_bytes large
  bool quotas = false;                  // usage is counted from the start
  // Watched keys change without the stamp: then no mount can notice that the watch has lost what
  // came just before (docs/architecture/kv_session.md), and none loses anything.
  bool unstamped_changes = false;
};

class MountWorld {
 public:
  explicit MountWorld(const MountWorldOptions& options);
  // Another VNFS (number 2 and up) of the first one's filesystem, on the same disk and etcd.
  MountWorld(const MountWorld& first, unsigned vnfs);

  // The first VNFS makes the filesystem; then vnfsd starts the first instance.
  void start();

  // The epoch of the instance that serves: when it changes, what an earlier instance held in memory
  // is lost. Waits until an instance serves.
  std::uint64_t epoch();
  bool serving() const;
  // An instance serves, and is not cut off.
  bool healthy() const { return serving() && !instance_->outlives; }
  // The instance of that epoch serves, or is only paused, or is cut off and not ended yet: what it
  // has acknowledged still holds.
  bool lives(std::uint64_t epoch) const { return serving() && epoch_ == epoch; }
  // Its end is recorded: nothing of it happens any more.
  bool fenced(std::uint64_t epoch) const { return fenced_epoch_ >= epoch; }
  void wait_fenced(std::uint64_t epoch);
  // Sends a request to the instance of this epoch. kLost: it died; whether it has done anything is
  // unknown. kMoved: another instance serves; nothing was sent. Blocks.
  enum class Reply { kAnswered, kLost, kMoved };
  Reply call(std::uint64_t epoch, const std::function<void(fs::Mount&)>& request);
  // As call(), without waiting. False: that instance takes no request any more; nothing was sent. A
  // request that was sent ends before a planned move goes on, or never, with its instance.
  bool send(std::uint64_t epoch, std::function<void(fs::Mount&)> request);
  // For work that an instance starts itself: counts it as a request, on the calling thread. False:
  // the instance takes no request any more.
  bool begin_request(std::uint64_t epoch);
  void end_request(std::uint64_t epoch);
  // Called on a thread of every instance that follows, before it serves.
  using Served = std::function<void(std::uint64_t epoch, fs::Mount&)>;
  void on_serving(Served served) { on_serving_ = std::move(served); }
  // The instance of that epoch has ended all its requests and closed its mount.
  bool retired(std::uint64_t epoch) const { return retired_.contains(epoch); }

  // --- faults
  // Injects one of the following faults, or none.
  struct Hazards {
    int kill = 1;  // relative weights
    int power = 1;
    int pause = 1;
    int partition = 1;
    int quota = 1;
    int watches = 1;
    int close = 1;
    int outlive = 0;
    int nothing = 4;
  };
  void disturb(const Hazards& hazards);
  void kill_instance();
  void lose_power();
  // Kills all instances, also fenced ones that still run.
  void kill_all();
  // A planned move: running requests end, the mount closes, then the process is killed.
  void close_cleanly();
  // The instance's LUNs refuse it, mostly etcd does not hear it either, and its mount is ended when
  // it cannot answer from memory any more, but the process is not killed and goes on. Until then it
  // is asked, and what it answers must be true; after that it must answer nothing that it is asked.
  // It may be at any point of its way to serving.
  void outlive();
  // kAway: no further instance is started until kHere.
  enum class Presence { kHere, kAway };
  void set_presence(Presence presence);
  // No more faults; returns when an instance serves.
  void settle();

  kv::MemServer& server() { return *server_; }
  const std::shared_ptr<kv::MemServer>& server_ptr() { return server_; }
  FsId fs() const { return fs_; }
  fs::Handle root() const { return {fs_, fs::kRootIno, Generation{1}}; }
  std::uint64_t volume_blocks() const { return options_.volume_bytes / 4096; }
  // Checks that no mount lives whose epoch has ended. Returns "" or what is wrong. A local fence
  // does not disprove the owner record: an instance that dies while it claims may still make its
  // mount until the next claim, which is refused because of that mount, and ends it.
  std::string check_ends() const;
  // Keys that were to be swept, refused for want of space.
  const std::set<std::string>& unerased() const { return *unerased_; }

 private:
  struct Instance {
    Process* process = nullptr;
    std::shared_ptr<SimFaults> faults;
    SimStore* store = nullptr;
    std::shared_ptr<SimLun> lun;  // since it was called
    fs::Mount* mount = nullptr;   // while it serves
    std::uint64_t epoch = 0;
    Revision owner;  // of its claim: the record that its guards compare
    int requests = 0;
    bool ready = false;  // a standby that waits for its call
    bool called = false;
    bool served = false;
    bool closing = false;
    bool outlives = false;
    bool disproved = false;  // its owner record has been replaced
  };
  [[noreturn]] void vnfsd();
  void start_instance();
  std::unique_ptr<Instance> new_instance(std::uint64_t epoch);
  void call_instance(Instance& instance);
  // Runs on a thread of the instance.
  void open_mount(Instance& instance);
  Revision put_owner(std::uint64_t epoch);
  void fence(Instance& instance);
  void end_mounts(const Instance& instance);
  fs::LifeSigns look_at_signs(const Instance& instance);
  void cut_off(Instance& instance);
  void fence_alive(Instance& instance);
  void disprove(Instance& instance);
  void ask_after_the_end(Instance& instance, fs::Mount& mount);

  // --- standbys
  bool rough() const { return disturbed_ && !calm_; }
  // Starts a standby, if there is none.
  void prepare();
  // The standby that may be called now; null: there is none.
  std::unique_ptr<Instance> take_standby();
  bool wait_ready(const Instance& standby);
  void discard(std::unique_ptr<Instance> standby);
  // Its head is fenced between its claim and its call, and its vnfsd calls it all the same, later.
  void call_too_late(std::unique_ptr<Instance> standby);

  Instance* pick_victim();
  void fill_up();

  const MountWorldOptions options_;
  const std::int64_t latency_ns_max_;
  const kv::FaultWeights weights_;
  const LunFaults lun_faults_;
  const bool hangs_in_exit_ = below(2) == 0;
  const unsigned vnfs_;
  const std::string head_ = "c1n" + std::to_string(vnfs_);
  const std::string vnfs_name_ = "vnfs" + std::to_string(vnfs_);
  const std::string owner_key_ = "c/owner/" + vnfs_name_;
  std::shared_ptr<kv::MemServer> server_;
  const std::shared_ptr<std::set<std::string>> unerased_;  // of all heads
  std::shared_ptr<SimArray> array_;
  Process& daemon_;
  SimStore daemon_store_;
  std::unique_ptr<Instance> instance_;
  std::unique_ptr<Instance> standby_;
  std::vector<std::unique_ptr<Instance>> dead_;
  FsId fs_;
  std::uint64_t last_epoch_ = 0;  // the last one given out
  std::uint64_t epoch_ = 0;       // of the last instance that was called
  std::uint64_t fenced_epoch_ = 0;
  std::uint64_t ended_epoch_ = 0;  // no mount of it, or of an earlier one, lives or will live
  std::set<std::uint64_t> retired_;
  Served on_serving_;
  Presence presence_ = Presence::kHere;
  bool disturbed_ = false;  // before the first fault nothing goes wrong
  bool calm_ = false;
};

}  // namespace symnas::sim

// Heads: one filesystem that several VNFSs serve at the same time, each with its own vnfsd, its own
// connection to etcd and its own queue to the LUNs. The simulations `mount` and `data` have one of
// them.
//
// Thread class: for simulated threads; no thread of an instance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/mount_world.h"

namespace symnas::sim {

class Heads {
 public:
  Heads(const MountWorldOptions& options, std::size_t count);

  void start();
  std::size_t size() const { return worlds_.size(); }
  MountWorld& operator[](std::size_t head) { return *worlds_[head]; }
  // Chooses a head to ask: mostly `home`, mostly one that serves.
  std::size_t pick(std::size_t home) const;

  // --- faults
  // A fault of one head.
  void disturb(const MountWorld::Hazards& hazards);
  // One head stops serving for a while, or comes back.
  void come_and_go();
  void all_come_back();
  void lose_power();
  void close_cleanly();
  void settle();

  // MountWorld::check_ends of each.
  std::string check_ends() const;
  MountWorld& first() { return *worlds_[0]; }

 private:
  const MountWorldOptions options_;
  std::vector<std::unique_ptr<MountWorld>> worlds_;
};

}  // namespace symnas::sim

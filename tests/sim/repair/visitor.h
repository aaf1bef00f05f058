// Visitor: somebody who changes the damaged part of the filesystem while it is repaired: names,
// links, files. Any answer is right there; what clients of the sound part are told must be true
// (client.h), and no instance may fall over it.
//
// Thread class: for the simulated thread that calls run().
#pragma once

#include <cstdint>
#include <string>

#include "tests/sim/heads.h"

namespace symnas::sim {

class Visitor {
 public:
  explicit Visitor(Heads& heads) : heads_(heads) {}
  void run(std::uint64_t operations);

 private:
  void one(fs::Mount& mount);
  void write(fs::Mount& mount, const fs::Handle& file, std::uint64_t offset);
  fs::Handle pick_directory() const;
  std::string pick_name() const;

  Heads& heads_;
};

}  // namespace symnas::sim

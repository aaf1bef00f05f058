// TreeWork: directory trees with a quota are made and removed while clients work. Some of the
// directories are those of clients (client.h): in them every answer must be as if there were no
// trees. In others it changes names and links across trees itself, and believes any answer; what
// must be true of the records is in tree_check.h.
//
// Thread class: for simulated threads.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fsal_cluster/mount/mount.h"
#include "tests/sim/heads.h"
#include "tests/sim/sim_store.h"

namespace symnas::sim {

class TreeWork {
 public:
  TreeWork(Heads& heads, Process& people);
  // Makes its directories. REQUIRES: before any fault; those of the clients are there.
  void prepare(int clients);
  // Changes names, links and contents in its own directories.
  void change_names(std::uint64_t operations);
  // Makes and removes trees.
  void change_trees(std::uint64_t changes);
  // Waits until all that lies in trees has its number. REQUIRES: no faults.
  void wait_ready();
  // "" or what is wrong.
  std::string check();

 private:
  void one(fs::Mount& mount);
  void trace_ready();
  void write(fs::Mount& mount, const fs::Handle& file);
  fs::Handle any_directory() const { return directories_[below(directories_.size())]; }

  Heads& heads_;
  SimStore store_;
  std::vector<fs::Handle> roots_;        // of trees, perhaps
  std::vector<fs::Handle> directories_;  // where names are changed
  std::vector<fs::Handle> files_;
  std::set<std::uint64_t> linked_;
};

}  // namespace symnas::sim

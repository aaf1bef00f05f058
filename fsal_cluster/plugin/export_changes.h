// ExportChanges: brings the exports that ganesha serves in line with a new list, one after the
// other; does not touch an export that stays as it is. Without ganesha, so that tests drive it.
//
// Thread class: thread-compatible.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "fsal_cluster/plugin/instance_file.h"

namespace symnas::plugin {

class ExportChanges {
 public:
  struct Server {
    // Adds the export, or changes the one with its id. After an error its old or its new state may
    // be served.
    std::function<Status(const InstanceFile::Export&)> set;
    // Removes the export if it is there.
    std::function<void(std::uint16_t id)> remove;
    // Whether the export is there: one that could not be served at the start was left out.
    std::function<bool(std::uint16_t id)> has;
  };

  // `served`: the exports that the server began with.
  ExportChanges(const std::vector<InstanceFile::Export>& served, Server server);

  // Removes exports that are not wanted, then sets those that are new or differ. Stops at the first
  // error; what was done by then is remembered, so that the next call goes on from there. Errors:
  // those of `set`, kConflict (exports exchange their paths: no order of single changes leads
  // there).
  Status follow(const std::vector<InstanceFile::Export>& wanted);

 private:
  Status set(const InstanceFile::Export& wanted);

  std::map<std::uint16_t, InstanceFile::Export> served_;  // block "": its state is not known
  const Server server_;
};

}  // namespace symnas::plugin

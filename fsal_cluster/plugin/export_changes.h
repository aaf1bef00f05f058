// ExportChanges: brings the exports that ganesha serves in line with a new list, one after the
// other, and touches none that stays as it is. Without ganesha, so that tests drive it.
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
    // Adds the export, or changes the one of that id. After an error it may be either.
    std::function<Status(const InstanceFile::Export&)> set;
    // If it is there.
    std::function<void(std::uint16_t id)> remove;
    // Whether it is there: what could not be served at the start was left out.
    std::function<bool(std::uint16_t id)> has;
  };

  // `served`: what the server was to begin with.
  ExportChanges(const std::vector<InstanceFile::Export>& served, Server server);

  // Removes what is not wanted, then sets what is new or other. Ends with the first error; what was
  // done by then is kept in mind, so that a further call goes on from there. Errors: those of
  // `set`, kConflict (exports exchange their paths: one after the other can do that).
  Status follow(const std::vector<InstanceFile::Export>& wanted);

 private:
  Status set(const InstanceFile::Export& wanted);

  std::map<std::uint16_t, InstanceFile::Export> served_;  // block "": not known what it is like
  const Server server_;
};

}  // namespace symnas::plugin

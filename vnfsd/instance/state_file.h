// state.json: what the next vnfsd needs to adopt a running instance, or to fence one that died
// without a witness. Value type and pure functions. Format: docs/formats/instance_state.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "vnfsd/instance/process.h"

namespace symnas::vnfsd::instance {

// What a LUN's path named when the instance was told of it (cvm::LunNode).
struct LunIdentity {
  std::string uuid;  // text
  std::uint64_t lock_device = 0;
  std::uint64_t lock_inode = 0;
  friend bool operator==(const LunIdentity&, const LunIdentity&) = default;
};

struct InstanceState {
  ProcessId process;
  Epoch epoch;
  std::string incarnation;  // boot id: after a reboot the pid means nothing
  Revision owner_mod_revision;
  std::int64_t started_ns = 0;    // wall clock
  std::vector<LunIdentity> luns;  // the LUNs on which its fence has to prove its end
  bool retiring = false;          // the instance was told to close its mounts: it serves no more
  std::vector<std::string> connections;  // of the clients, since the VIPs were removed (Connection)
  bool standby = false;  // the instance waits for its claim: it has no LUN open, and no link up
  friend bool operator==(const InstanceState&, const InstanceState&) = default;
};

std::string render_state(const InstanceState& state);
// Errors: kCorrupt.
Result<InstanceState> parse_state(const std::string& text);

}  // namespace symnas::vnfsd::instance

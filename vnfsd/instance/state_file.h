// state.json: what the next vnfsd needs to adopt a running instance, or to fence one that died
// without a witness. Value type and pure functions. Format: docs/formats/instance_state.md.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "vnfsd/instance/process.h"

namespace symnas::vnfsd::instance {

struct InstanceState {
  ProcessId process;
  Epoch epoch;
  std::string incarnation;  // boot id: after a reboot the pid means nothing
  Revision owner_mod_revision;
  std::int64_t started_ns = 0;  // wall clock
  friend bool operator==(const InstanceState&, const InstanceState&) = default;
};

std::string render_state(const InstanceState& state);
// Errors: kCorrupt.
Result<InstanceState> parse_state(const std::string& text);

}  // namespace symnas::vnfsd::instance

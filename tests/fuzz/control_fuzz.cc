// Files by which vnfsd, its instances and its administrator tell each other what to do.
#include <cstdlib>
#include <string>

#include "fsal_cluster/plugin/instance_file.h"
#include "vnfsd/config/config.h"
#include "vnfsd/instance/connections.h"
#include "vnfsd/instance/launch_spec.h"
#include "vnfsd/instance/state_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace symnas;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 5) {
    case 0: static_cast<void>(plugin::parse_instance_file(text, "input")); break;
    case 1:
      if (const auto state = vnfsd::instance::parse_state(text)) {
        const auto again = vnfsd::instance::parse_state(vnfsd::instance::render_state(*state));
        if (!again || *again != *state) std::abort();
      }
      break;
    case 2:
      if (const auto spec = vnfsd::instance::parse_launch_spec(text)) {
        const auto again =
            vnfsd::instance::parse_launch_spec(vnfsd::instance::render_launch_spec(*spec));
        if (!again || *again != *spec) std::abort();
      }
      break;
    case 3: static_cast<void>(vnfsd::parse_config(text, "input")); break;
    default: static_cast<void>(vnfsd::instance::Connection::parse(text)); break;
  }
  return 0;
}

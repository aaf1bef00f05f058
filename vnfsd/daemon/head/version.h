// The version that vnfsd reports and writes into its head record.
#pragma once

namespace symnas::vnfsd::daemon {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace symnas::vnfsd::daemon

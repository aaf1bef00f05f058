// make_bundle: one archive for whoever helps an administrator. What is in it:
// docs/operations/support.md. Thread-safe: a function without state; it blocks, for kBundleMs and
// one program at most.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "vnfsd/support/collector.h"

namespace symnas::vnfsd::support {

// kLeaveOut: nothing that starts a program is taken; tests then depend on no machine.
enum class Programs { kRun, kLeaveOut };

struct BundleRequest {
  std::string out;     // must not exist
  std::string config;  // vnfsd.toml; etcd.yml lies beside it
  Programs programs = Programs::kRun;
};

// How vnfsd is asked.
struct Agent {
  // GET of a path, within timeout_s seconds. Errors: kShutdown (vnfsd does not answer), others.
  std::function<Result<nlohmann::json>(const std::string& path, int timeout_s)> get;
  std::function<Result<std::string>(const std::string& path, int timeout_s)> get_text;
};

// Writes the archive; whatever cannot be had is a line in its MANIFEST. After an error there is no
// archive. Errors: kAlreadyExists, kIo.
Result<Taken> make_bundle(const BundleRequest& request, const Agent& agent);

// "symnas-support-c1n1-20260102T030405Z.tar.gz". now_s: seconds since 1970. Pure.
std::string default_bundle_name(const std::string& host, std::int64_t now_s);

}  // namespace symnas::vnfsd::support

// Collector: takes what a support bundle is made of into its archive, without secrets, and keeps
// the MANIFEST: a line for each thing that was taken, and for each that was not, with the reason.
// Thread-compatible. Invariant: nothing reaches the archive but through the Secrets.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/base/result.h"
#include "vnfsd/support/archive.h"
#include "vnfsd/support/redact.h"

namespace symnas::vnfsd::support {

struct Taken {
  std::size_t members = 0;
  std::size_t missing = 0;
  std::uint64_t bytes = 0;  // before compression
};

// The end of a plain file, at most kMemberBytesMax bytes from the beginning of a line. Links are
// not followed, and nothing is waited for. Errors: kNotFound, kInvalidArgument (no plain file; or
// must_stay()), kIo.
Result<std::string> read_end(const std::string& path);

class Collector {
 public:
  // archive: stays the caller's, outlives this.
  Collector(Archive& archive, Secrets secrets);

  // Each takes one thing as the member `name`; what cannot be had is a line of the MANIFEST.
  // Errors: kIo: the archive cannot be written.
  Status text(const std::string& name, std::string text);
  Status file(const std::string& name, const std::string& path);
  // JSON, else as text.
  Status json_file(const std::string& name, const std::string& path);
  Status document(const std::string& name, const Result<nlohmann::json>& document);
  // Runs a program (absolute path; no shell) for kProgramMs at most.
  Status program(const std::string& name, const std::string& path,
                 const std::vector<std::string>& arguments);
  // Notes that `name` is not there.
  void missing(const std::string& name, const std::string& why);
  // Writes the MANIFEST as the last member. Errors: kIo.
  Result<Taken> finish();

  std::int64_t spent_ms() const;  // since it was made

 private:
  // Whether there is still time and room; else notes why not.
  bool goes_on(const std::string& name);
  Status put(const std::string& name, const std::string& text, const std::string& remark);

  Archive& archive_;
  Secrets secrets_;
  std::chrono::steady_clock::time_point begun_;
  std::string manifest_;
  Taken taken_;
};

}  // namespace symnas::vnfsd::support

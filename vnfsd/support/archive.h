// Archive: writes a gzipped tar file (POSIX.1-1988 ustar). Thread-compatible.
// Invariant: until finish() has succeeded the file is not whole, and the destructor removes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

struct z_stream_s;

namespace symnas::vnfsd::support {

// The header of a member, 512 bytes: a plain file of root, mode 0600. mtime_s: seconds since 1970.
// Pure. Errors: kInvalidArgument (a name of 0 or more than 100 bytes), kTooLarge (8 GiB and more).
Result<std::string> tar_header(std::string_view name, std::uint64_t size_bytes,
                               std::int64_t mtime_s);

class Archive {
 public:
  // Makes the file, mode 0600. Errors: kAlreadyExists, kIo.
  static Result<Archive> create(const std::string& path);
  Archive(Archive&&) noexcept;
  Archive& operator=(Archive&&) = delete;
  ~Archive();

  // Errors: those of tar_header() (nothing was written), kIo.
  Status add(std::string_view name, std::string_view bytes, std::int64_t mtime_s);
  // Writes the end and syncs. REQUIRES: called once, add() not afterwards. Errors: kIo.
  Status finish();

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };
  Archive(std::string path, UniqueFd fd, std::unique_ptr<z_stream_s, End> stream);
  Status write(std::string_view bytes, int flush);

  std::string path_;  // "": not to be removed
  UniqueFd fd_;
  std::unique_ptr<z_stream_s, End> stream_;
};

}  // namespace symnas::vnfsd::support

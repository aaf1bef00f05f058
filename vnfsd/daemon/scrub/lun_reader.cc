#include "vnfsd/daemon/scrub/lun_reader.h"

#include <utility>

#include "vnfsd/daemon/scrub/limits.h"

namespace symnas::vnfsd::daemon {

namespace {

void join(std::vector<BadRun>& runs, std::uint64_t at, std::string error) {
  if (!runs.empty() && runs.back().byte + runs.back().bytes == at) {
    runs.back().bytes += kScrubBlockBytes;
  } else {
    runs.push_back({at, kScrubBlockBytes, std::move(error)});
  }
}

// Of `blocks`, which are read one by one. An error that is no block's ends it.
Result<std::vector<BadRun>> read_blocks(const ReadLun& read,
                                        const std::vector<std::uint64_t>& blocks) {
  std::vector<std::byte> buffer(kScrubBlockBytes);
  std::vector<BadRun> out;
  for (const std::uint64_t at : blocks) {
    const Status one = read(at, buffer);
    if (one) continue;
    if (one.error().code != ErrorCode::kIo) return tl::unexpected<Error>(one.error());
    join(out, at, one.error().message);
  }
  return out;
}

std::vector<std::uint64_t> blocks_of(const std::vector<BadRun>& runs) {
  std::vector<std::uint64_t> out;
  for (const BadRun& run : runs)
    for (std::uint64_t at = run.byte; at < run.byte + run.bytes; at += kScrubBlockBytes)
      out.push_back(at);
  return out;
}

}  // namespace

Result<std::vector<BadRun>> find_bad(const ReadLun& read, const std::function<Status()>& reachable,
                                     std::uint64_t byte, std::uint64_t bytes) {
  std::vector<std::byte> buffer(bytes);
  const Status whole = read(byte, buffer);
  if (whole) return std::vector<BadRun>();
  if (whole.error().code != ErrorCode::kIo) return tl::unexpected<Error>(whole.error());
  SYMNAS_ASSIGN(const std::vector<BadRun> first, read_blocks(read, blocks_of({{byte, bytes, ""}})));
  if (first.empty()) return first;
  // A lost path gives the same error as a bad block, for all blocks; and it may be back since.
  SYMNAS_TRY(reachable());
  return read_blocks(read, blocks_of(first));
}

}  // namespace symnas::vnfsd::daemon

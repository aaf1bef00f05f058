// ScrubWindow: which parts of a window of a LUN belong to files. Made of the reverse map of the
// volume's filesystem. Thread class: value type; read_window() blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/kv/store.h"
#include "cvm/stripe_map.h"
#include "fsal_cluster/schema/records.pb.h"

namespace symnas::vnfsd::daemon {

// Bytes of a LUN, and what file they are of. ino 0: no file.
struct UsedPart {
  std::uint64_t byte = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ino = 0;
  std::uint64_t file_byte = 0;  // of `byte`
};

// Of a LUN of a volume with a filesystem.
struct ScrubbedLun {
  cvm::StripeMap map;
  LunIndex lun;
  fs::records::FilesystemRecord filesystem;
};

// The parts of [begin, end) of the LUN that files have, ascending. Entries that cannot be
// parsed are skipped, with a line in the log. Errors: those of the store.
Result<std::vector<UsedPart>> read_window(kv::Store& store, const ScrubbedLun& lun,
                                          std::uint64_t begin, std::uint64_t end);
// Also the parts between, as parts of no file.
std::vector<UsedPart> with_gaps(const std::vector<UsedPart>& used, std::uint64_t begin,
                                std::uint64_t end);

}  // namespace symnas::vnfsd::daemon

// What READ, WRITE, COMMIT and SEEK are asked for and answer. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "common/base/result.h"
#include "cvm/volume_io.h"

namespace symnas::fs {

// stable_how of NFS (RFC 1813, 3.3.7); DATA_SYNC is carried out as FILE_SYNC.
enum class WriteStability { kUnstable, kFileSync };

struct ReadResult {
  std::size_t bytes = 0;
  bool end_of_file = false;
  bool hole = false;   // nothing of these bytes was ever written: all of them are zeros
  cvm::Buffer buffer;  // aligned pool buffer; data begins at buffer.data() + offset_bytes
  std::size_t offset_bytes = 0;
};
using ReadCallback = std::function<void(Result<ReadResult>)>;
struct WriteResult {
  std::size_t bytes = 0;
  WriteStability achieved = WriteStability::kFileSync;
};
using WriteCallback = std::function<void(Result<WriteResult>)>;
using StatusCallback = std::function<void(Status)>;
// What SEEK looks for, and where it begins. end_of_file: there is none before the end of the file,
// and `offset` is that end. Blocks that are only reserved are holes.
enum class Content : std::uint8_t { kData, kHole };
struct Sought {
  std::uint64_t offset = 0;
  bool end_of_file = false;
};

}  // namespace symnas::fs

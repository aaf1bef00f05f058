#include "vnfsd/daemon/scrub/scrub_window.h"

#include <algorithm>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/kv/keys.h"
#include "fsal_cluster/types/limits.h"
#include "vnfsd/daemon/scrub/limits.h"

namespace symnas::vnfsd::daemon {
namespace {

// Entries of the reverse map with a block in [begin, end).
Status read_entries(
    kv::Store& store, const fs::records::FilesystemRecord& filesystem, std::uint64_t begin,
    std::uint64_t end,
    const std::function<void(std::uint64_t, const fs::records::ReverseMap&)>& take) {
  const FsId fs{filesystem.fsid()};
  const std::uint64_t size = filesystem.group_blocks();
  for (std::uint64_t group = begin / size; group * size < end; ++group) {
    const auto number = static_cast<std::uint32_t>(group);
    const std::uint64_t first =
        std::max(group * size, begin - std::min(begin, kScrubExtentBlocksMax));
    kv::KeyRange rest{kv::keys::reverse_map(fs, number, first),
                      kv::keys::reverse_map(fs, number, std::min(end, (group + 1) * size))};
    for (;;) {
      SYMNAS_ASSIGN(const kv::OpResult page,
                    kv::range_blocking(store, rest, kScrubPageKeys, fs::kAdminDeadlineMs));
      for (const kv::KeyValue& kv : page.kvs) {
        const std::uint64_t block = read_be64(kv.key, kv.key.size() - 8);
        fs::records::ReverseMap entry;
        if (!entry.ParseFromString(kv.value)) {
          log::warn(
              "scrub: fs {}: the reverse-map entry of volume block {} cannot be parsed, its blocks "
              "are not read (symnas fs check {})",
              filesystem.name(), block, filesystem.name());
          continue;
        }
        if (block + entry.blocks() > begin) take(block, entry);
      }
      if (!page.more || page.kvs.empty()) break;
      rest.key = page.kvs.back().key + '\0';
    }
  }
  return {};
}

}  // namespace

Result<std::vector<UsedPart>> read_window(kv::Store& store, const ScrubbedLun& lun,
                                          std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t unit = lun.map.stripe_unit_bytes();
  const std::uint64_t block_bytes = lun.filesystem.block_bytes();
  // A LUN's stripe units ascend in the volume as on the LUN.
  SYMNAS_ASSIGN(const VolumeOffset first, lun.map.volume_offset({lun.lun, LunOffset{begin}}));
  SYMNAS_ASSIGN(const VolumeOffset last, lun.map.volume_offset({lun.lun, LunOffset{end - 1}}));
  const std::uint64_t volume_begin = first.value();
  const std::uint64_t volume_end = last.value() / unit * unit + unit;
  std::vector<UsedPart> out;
  SYMNAS_TRY(read_entries(
      store, lun.filesystem, volume_begin / block_bytes,
      (volume_end + block_bytes - 1) / block_bytes,
      [&](std::uint64_t block, const fs::records::ReverseMap& entry) {
        const std::uint64_t from = std::max(block * block_bytes, volume_begin);
        const std::uint64_t to = std::min((block + entry.blocks()) * block_bytes, volume_end);
        if (from >= to || to > lun.map.size_bytes()) return;
        lun.map.for_each_piece(VolumeOffset{from}, to - from, [&](const cvm::Piece& piece) {
          const std::uint64_t at = piece.position.offset.value();
          if (piece.position.lun != lun.lun || at < begin || at >= end) return;
          out.push_back({at, piece.length_bytes, entry.ino(),
                         entry.file_block() * block_bytes + piece.volume_offset.value() -
                             block * block_bytes});
        });
      }));
  std::sort(out.begin(), out.end(),
            [](const UsedPart& a, const UsedPart& b) { return a.byte < b.byte; });
  return out;
}

std::vector<UsedPart> with_gaps(const std::vector<UsedPart>& used, std::uint64_t begin,
                                std::uint64_t end) {
  std::vector<UsedPart> out;
  std::uint64_t at = begin;
  for (const UsedPart& part : used) {
    if (part.byte > at) out.push_back({at, part.byte - at, 0, 0});
    out.push_back(part);
    at = std::max(at, part.byte + part.bytes);
  }
  if (at < end) out.push_back({at, end - at, 0, 0});
  return out;
}

}  // namespace symnas::vnfsd::daemon

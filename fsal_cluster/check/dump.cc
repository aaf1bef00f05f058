#include "fsal_cluster/check/dump.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/core.h>

#include "common/base/bytes.h"
#include "common/kv/keys.h"
#include "cvm/volume.h"
#include "fsal_cluster/check/finding.h"
#include "fsal_cluster/check/limits.h"
#include "fsal_cluster/schema/dirent.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/schema/name_hash.h"

namespace symnas::fs::check {
namespace {

std::vector<std::string> names_of(const std::string& path) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) names.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::uint32_t count_written(const records::Extent& extent) {
  if (extent.written().empty()) return extent.blocks();
  std::uint32_t count = 0;
  for (const char c : extent.written())
    count += static_cast<std::uint32_t>(std::popcount(static_cast<unsigned char>(c)));
  return std::min(count, extent.blocks());
}

class Extents {
 public:
  Extents(InodeDump& dump, const cvm::StripeMap& stripes) : dump_(dump), stripes_(stripes) {}

  void add(std::uint64_t base, const google::protobuf::RepeatedPtrField<records::Extent>& extents) {
    for (const records::Extent& extent : extents) {
      if (dump_.extents.size() >= kDumpExtentsMax) {
        dump_.more_extents = true;
        return;
      }
      DumpedExtent out;
      out.file_block = base + extent.file_block();
      out.volume_block = extent.volume_block();
      out.blocks = extent.blocks();
      out.written_blocks = count_written(extent);
      const VolumeOffset offset{extent.volume_block() * dump_.block_bytes};
      const std::uint64_t bytes = std::uint64_t{extent.blocks()} * dump_.block_bytes;
      if (stripes_.contains(offset, bytes))
        stripes_.for_each_piece(offset, bytes,
                                [&](const cvm::Piece& piece) { out.pieces.push_back(piece); });
      dump_.extents.push_back(std::move(out));
    }
  }

 private:
  InodeDump& dump_;
  const cvm::StripeMap& stripes_;
};

}  // namespace

Result<Ino> resolve(View& view, const std::string& path) {
  if (path.empty() || path.front() != '/')
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("path '{}': write it from the root of the filesystem, as /dir/file",
                            printable(path)));
  SYMNAS_ASSIGN(const NameHasher hasher,
                NameHasher::create(view.context().filesystem.name_hash_key()));
  Ino at = kRootIno;
  for (const std::string& name : names_of(path)) {
    const std::string key = kv::keys::dirent_bucket(view.context().fs(), at, hasher.hash(name));
    SYMNAS_ASSIGN(const auto values, view.get({key}));
    records::DirentBucket bucket;
    if (values.front()) {
      SYMNAS_ASSIGN(bucket, parse_record<records::DirentBucket>(*values.front(), "names"));
    }
    const records::Dirent* entry = find_entry(bucket, name);
    if (entry == nullptr)
      return fail(ErrorCode::kNotFound,
                  fmt::format("path {}: '{}' does not exist", printable(path), printable(name)));
    at = Ino{entry->ino()};
  }
  return at;
}

Result<InodeDump> dump_inode(View& view, Ino ino) {
  const FsId fs = view.context().fs();
  SYMNAS_ASSIGN(const auto values,
                view.get({kv::keys::inode(fs, ino), kv::keys::directory_times(fs, ino)}));
  if (!values[0])
    return fail(ErrorCode::kNotFound, fmt::format("fs {}: inode {} does not exist",
                                                  view.context().filesystem.name(), ino.value()));
  InodeDump dump;
  dump.ino = ino;
  dump.revision = view.revision();
  dump.block_bytes = view.context().filesystem.block_bytes();
  const std::string what = fmt::format("inode {}", ino.value());
  SYMNAS_ASSIGN(dump.inode, parse_record<records::Inode>(*values[0], what));
  if (values[1]) {
    SYMNAS_ASSIGN(dump.times, parse_record<records::DirectoryTimes>(*values[1], what + " times"));
  }
  SYMNAS_ASSIGN(const cvm::StripeMap stripes, cvm::stripe_map_of(view.volume()));
  Extents extents(dump, stripes);
  extents.add(0, dump.inode.extents());
  const std::string prefix =
      kv::keys::map_prefix(fs, ino, MapGeneration{dump.inode.map_generation()});
  Status parsed;
  SYMNAS_TRY(view.read(kv::prefix_range(prefix), [&](const kv::KeyValue& kv) {
    const auto chunk = parse_record<records::MapChunk>(kv.value, what + " map chunk");
    if (!chunk || kv.key.size() != prefix.size() + 8) {
      if (parsed) parsed = fail(ErrorCode::kCorrupt, what + ": a map chunk cannot be read");
      return;
    }
    extents.add(read_be64(kv.key, prefix.size()) * (kChunkBytes / dump.block_bytes),
                chunk->extents());
  }));
  SYMNAS_TRY(std::move(parsed));
  return dump;
}

}  // namespace symnas::fs::check

// etcd's records of a filesystem, which another version or a fault may have written.
#include <string>

#include "fsal_cluster/data/file_map.h"
#include "fsal_cluster/schema/dirent.h"
#include "fsal_cluster/schema/inode.h"
#include "fsal_cluster/state/lock_record.h"
#include "fsal_cluster/state/share_table.h"

namespace {

using namespace symnas;
using namespace symnas::fs;

constexpr std::uint32_t kBlockBytes = 4096;
constexpr std::uint64_t kGroupBlocks = 1024;
constexpr std::uint64_t kLookedAt = 1 << 16;  // blocks of a map

void look_at(const FileMap& map) {
  std::uint64_t block = 0;
  for (int pieces = 0; block < kLookedAt && pieces < 1000; ++pieces)
    block += map.find(block, kLookedAt).blocks;
}

void inode(const std::string& value) {
  kv::CachedValue read;
  read.value = value;
  const auto node = parse_node(Ino{77}, read);
  if (!node || !*node) return;
  static_cast<void>(attributes_of(FsId{1}, **node, kBlockBytes));
  FileMap map(kGroupBlocks);
  if (!(*node)->record.chunked() && map.load_inline((*node)->record)) look_at(map);
  static_cast<void>(parse_directory(**node, read));
}

void chunk(const std::string& value) {
  const auto record = parse_record<records::MapChunk>(value, "chunk");
  if (!record) return;
  FileMap map(kGroupBlocks);
  map.load_chunked(1);
  static_cast<void>(map.load_chunk(0, *record, Revision{5}));
}

void bucket(const std::string& value) {
  auto record = parse_record<records::DirentBucket>(value, "bucket");
  if (!record || find_entry(*record, "name") != nullptr) return;
  static_cast<void>(add_entry(*record, "name", Ino{78}, FileType::kRegular));
}

void lock(const std::string& value) {
  static_cast<void>(parse_lock_key(FsId{1}, value));
  static_cast<void>(ordered_lock_key(FsId{1}, value));
  kv::KeyValue kv;
  kv.value = value;
  kv.key = lock_key(FsId{1}, Ino{7}, "vnfs1", {LockProtocol::kNlm, "client", "owner"});
  if (const auto locks = parse_locks(FsId{1}, {kv})) {
    static_cast<void>(owner_of(locks->front().record));
    static_cast<void>(lock_of(locks->front().record));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string value(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 5) {
    case 0: inode(value); break;
    case 1: chunk(value); break;
    case 2: bucket(value); break;
    case 3: lock(value); break;
    default: static_cast<void>(parse_share(value)); break;
  }
  return 0;
}

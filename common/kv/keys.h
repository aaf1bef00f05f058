// Every key of the store, in one place. docs/formats/keys.md describes them byte by byte.
//
// Control plane (text): "c/<kind>/<name>". Values: protobuf of cvm/records.proto (luns, volumes),
// fsal_cluster/schema/records.proto (filesystems, mounts), vnfsd/records/records.proto (the rest).
// History (text): "h/" + VNFS + "/" + epoch.
// Filesystem (binary): "f/" + be32(fsid) + area + table + ids big-endian.
//   area 'w' is the watched prefix; area 'u' lies outside it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/kv/store.h"

namespace symnas::kv::keys {

// --- control plane
inline const std::string kCluster = "c/cluster";    // ClusterRecord
inline const std::string kHeads = "c/head/";        // + name: HeadRecord
inline const std::string kNetworks = "c/net/";      // + name: NetworkRecord
inline const std::string kLuns = "c/lun/";          // + name: cvm.LunRecord
inline const std::string kVolumes = "c/vol/";       // + name: cvm.VolumeRecord
inline const std::string kFilesystems = "c/fs/";    // + name: fs.FilesystemRecord
inline const std::string kExports = "c/exp/";       // + name: ExportRecord
inline const std::string kVnfs = "c/vnfs/";         // + name: VnfsRecord
inline const std::string kOwners = "c/owner/";      // + VNFS name: OwnerRecord
inline const std::string kFences = "c/fence/";      // + head: FenceRecord
inline const std::string kMoves = "c/move/";        // + VNFS name: MoveRecord
inline const std::string kRefusals = "c/refusal/";  // + VNFS name: RefusalsRecord
inline const std::string kConnections = "c/conn/";  // + VNFS name: ConnectionsRecord
inline const std::string kCounters = "c/next/";     // + what: decimal text of the next free value
inline const std::string kEpochCounter = "c/next/epoch";
inline const std::string kFsIdCounter = "c/next/fsid";
inline const std::string kExportIdCounter = "c/next/export";
inline const std::string kVnfsIdCounter = "c/next/vnfs";
inline const std::string kMountIdCounter = "c/next/mount";

// Not below "c/": a reader of the cluster's records need not read them.
inline std::string history_prefix(const std::string& vnfs) { return "h/" + vnfs + "/"; }
inline std::string history(const std::string& vnfs, Epoch epoch) {
  std::string key = history_prefix(vnfs);
  for (int shift = 60; shift >= 0; shift -= 4) {
    key.push_back("0123456789abcdef"[epoch.value() >> shift & 0xf]);
  }
  return key;
}

// --- filesystem
inline std::string filesystem(FsId fs) {
  std::string key = "f/";
  append_be32(key, fs.value());
  return key;
}
inline std::string table(FsId fs, char area, char table_letter) {
  std::string key = filesystem(fs);
  key.push_back(area);
  key.push_back(table_letter);
  return key;
}
inline std::string table64(FsId fs, char area, char table_letter, std::uint64_t id) {
  std::string key = table(fs, area, table_letter);
  append_be64(key, id);
  return key;
}

// Watched area.
inline KeyRange watched(FsId fs) { return prefix_range(filesystem(fs) + "w"); }
inline std::string stamp(FsId fs) { return table(fs, 'w', 'S'); }
inline std::string inode(FsId fs, Ino ino) { return table64(fs, 'w', 'I', ino.value()); }
inline std::string directory_times(FsId fs, Ino dir) { return table64(fs, 'w', 'T', dir.value()); }
// One key per directory and name hash: the record (a bucket) holds every name of that hash.
inline std::string dirent_prefix(FsId fs, Ino dir) { return table64(fs, 'w', 'D', dir.value()); }
inline std::string dirent_bucket(FsId fs, Ino dir, std::uint64_t name_hash) {
  std::string key = dirent_prefix(fs, dir);
  append_be64(key, name_hash);
  return key;
}
// One key per 64 MiB of file (kMapChunkBytes).
inline std::string map_prefix(FsId fs, Ino ino, MapGeneration generation) {
  std::string key = table64(fs, 'w', 'M', ino.value());
  append_be32(key, generation.value());
  return key;
}
inline std::string map_chunk(FsId fs, Ino ino, MapGeneration generation, std::uint64_t chunk) {
  std::string key = map_prefix(fs, ino, generation);
  append_be64(key, chunk);
  return key;
}
inline std::string mounts(FsId fs) { return table(fs, 'w', 'B'); }
inline std::string mount(FsId fs, MountId id) { return table64(fs, 'w', 'B', id.value()); }
inline std::string mount_ended(FsId fs, MountId id) { return mount(fs, id) + "E"; }
inline std::string heartbeat(FsId fs, MountId id) { return table64(fs, 'w', 'H', id.value()); }
inline std::string tokens(FsId fs) { return table(fs, 'w', 'K'); }
inline std::string token(FsId fs, Ino ino, MountId id) {
  std::string key = table64(fs, 'w', 'K', ino.value());
  append_be64(key, id.value());
  return key;
}
inline std::string want(FsId fs, Ino ino) { return table64(fs, 'w', 'W', ino.value()); }
// The mount has the inode open although it has no links (only with several mounts).
inline std::string hold(FsId fs, Ino ino, MountId id) {
  std::string key = table64(fs, 'w', 'P', ino.value());
  append_be64(key, id.value());
  return key;
}
inline std::string holds(FsId fs) { return table(fs, 'w', 'P'); }
inline std::string token_prefix(FsId fs, Ino ino) { return table64(fs, 'w', 'K', ino.value()); }
inline std::string wants(FsId fs) { return table(fs, 'w', 'W'); }
inline std::string heartbeats(FsId fs) { return table(fs, 'w', 'H'); }
// `solo` names the mount that is alone, while it is alone; a mount that wants to join puts
// `want_solo`.
inline std::string solo(FsId fs) { return table(fs, 'w', 'L'); }
inline std::string want_solo(FsId fs) { return table(fs, 'w', 'V'); }
// Every mount looks at the orphans: it may have such an inode open.
inline std::string orphans(FsId fs) { return table(fs, 'w', 'O'); }
inline std::string orphan(FsId fs, Ino ino) { return table64(fs, 'w', 'O', ino.value()); }
// The share modes of one mount's opens of a file of which some open denies something.
inline std::string shares(FsId fs) { return table(fs, 'w', 'Y'); }
inline std::string shares_of(FsId fs, Ino ino) { return table64(fs, 'w', 'Y', ino.value()); }
inline std::string share(FsId fs, Ino ino, MountId id) {
  std::string key = shares_of(fs, ino);
  append_be64(key, id.value());
  return key;
}
// Orders about lock records; the rest of the key is as in the lock record's own key.
inline std::string lock_orders(FsId fs) { return table(fs, 'w', 'X'); }
inline std::string directory_move(FsId fs) { return table(fs, 'w', 'R'); }

// Outside the watched area. slot_prefix() is for tests: a mount uses mount_slots().
inline std::string slot_prefix(FsId fs) { return table(fs, 'u', 'S'); }
// All slots of one mount's session.
inline std::string mount_slots(FsId fs, MountId id) { return table64(fs, 'u', 'S', id.value()); }
inline std::string next_ino(FsId fs) { return table(fs, 'u', 'N'); }
// Compared and put by every claim: of two simultaneous claims of a filesystem one fails.
inline std::string mount_claim(FsId fs) { return table(fs, 'u', 'C'); }
inline std::string group_owners(FsId fs) { return table(fs, 'u', 'G'); }
inline std::string group_owner(FsId fs, std::uint32_t group) {
  std::string key = table(fs, 'u', 'G');
  append_be32(key, group);
  return key;
}
// Reverse map: one key per extent; `block` is the volume block (4 KiB) the extent begins at.
inline std::string reverse_map_group(FsId fs, std::uint32_t group) {
  std::string key = table(fs, 'u', 'R');
  append_be32(key, group);
  return key;
}
inline std::string reverse_map(FsId fs, std::uint32_t group, std::uint64_t block) {
  std::string key = reverse_map_group(fs, group);
  append_be64(key, block);
  return key;
}
inline std::string locks(FsId fs) { return table(fs, 'u', 'L'); }

}  // namespace symnas::kv::keys

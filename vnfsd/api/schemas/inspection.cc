// What is looked up in filesystems: check, dump, capacity, locks.
#include "vnfsd/api/schemas/schemas.h"

namespace symnas::vnfsd::api {

const char* const kInspectionSchemas = R"json({
"CheckReport": {
  "filesystem": "text",
  "revision": "count: of etcd, at which all this is so",
  "took_ms": "count",
  "findings_total": "count: 0 = nothing is wrong",
  "findings": "list of Finding: the first 1000",
  "files": "count",
  "directories": "count",
  "others": "count",
  "names": "count",
  "extents": "count",
  "bytes_used": "count",
  "bytes_total": "count",
  "etcd_keys": "count",
  "etcd_bytes": "count: of keys and values"
},
"Finding": {
  "kind": "text: a stable word: two_owners, lost_space, ...",
  "text": "text",
  "ino?": "count: of the object, if it has one",
  "path?": "text: of the object, if it is known"
},
"InodeChoice": {
  "": "Exactly one of the two.",
  "path?": "text: within the filesystem",
  "ino?": "count"
},
"Inode": {
  "": "As in docs/formats/filesystem_records.md.",
  "ino": "count",
  "revision": "count: of etcd, at which all this is so",
  "type": "one of regular|directory|symlink|block_device|character_device|fifo|socket|unknown",
  "mode": "count: permission bits",
  "uid": "count",
  "gid": "count",
  "nlink": "count",
  "generation": "count",
  "size_bytes": "count",
  "used_bytes": "count",
  "atime_ns": "whole",
  "mtime_ns": "whole",
  "ctime_ns": "whole",
  "parent?": "count: of a directory",
  "symlink_target?": "text",
  "content_time_ns?": "whole: of a directory",
  "map_generation?": "count: of a regular file, as all below",
  "map_in?": "one of inode|chunks",
  "trim_block?": "count",
  "extents?": "list of Extent: the first 10,000",
  "more_extents?": "flag: there are more than these"
},
"Extent": {
  "file_block": "count",
  "volume_block": "count",
  "blocks": "count",
  "written_blocks": "count",
  "pieces": "list of Piece"
},
"Piece": {
  "file_byte": "count",
  "bytes": "count",
  "volume_byte": "count",
  "lun": "text: its name; empty = unknown",
  "lun_path": "text: on this head; empty = not found",
  "lun_byte": "count"
},
"Capacity": {
  "filesystems": "list of FilesystemUse",
  "etcd": "EtcdUse",
  "instances": "list of InstanceMemory: of this head"
},
"FilesystemUse": {
  "name": "text",
  "files": "count",
  "directories": "count",
  "others": "count",
  "bytes_total": "count",
  "bytes_used": "count",
  "bytes_free": "count",
  "etcd_keys": "count",
  "etcd_bytes": "count: of keys and values",
  "etcd_bytes_per_file": "count",
  "etcd_db_bytes_per_file": "count: with its share of history; a usual value below 1000 files",
  "files_fit": "count: how many more"
},
"EtcdUse": {
  "quota_bytes": "count",
  "db_size_bytes": "count",
  "db_in_use_bytes": "count",
  "no_space": "flag: etcd takes no changes any more",
  "share_used": "number: of the quota, 0 to 1"
},
"InstanceMemory": {
  "vnfs": "text",
  "pid": "count",
  "resident_bytes": "count",
  "idle_resident_bytes": "count: before its first client; 0 = not known",
  "cached_inodes": "count",
  "bytes_per_cached_inode?": "count: from 10,000 cached inodes on"
},
"Locks": {
  "locks": "list of Lock: one for each owner and file; at most 10,000",
  "more?": "flag: true = there are more than these: narrow the filter"
},
"Lock": {
  "filesystem": "text",
  "ino": "count",
  "path?": "text: if the filter has it",
  "vnfs": "text",
  "client": "text: NFSv3: its name; NFSv4: its client id; 0x... = bytes that are no text",
  "address?": "text: of the client, NFSv3",
  "vip?": "text: that it uses, NFSv3",
  "owner": "text: NFSv3: process number/handle",
  "protocol": "one of nlm|nfs4",
  "ranges": "list of LockRange",
  "since_ns?": "count: if it is recorded",
  "age_s?": "count: if it is recorded",
  "revocable": "one of no|if_away: if_away = others get it after two leases if it stays away"
},
"LockRange": {
  "start": "count: byte",
  "length?": "count: bytes; missing = to the end of the file",
  "type": "one of read|write"
}
})json";

}  // namespace symnas::vnfsd::api

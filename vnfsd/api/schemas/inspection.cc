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
"RepairPlan": {
  "filesystem": "text",
  "plan": "text: by which it can be carried out, on this head",
  "revision": "count: of etcd, that was checked",
  "findings_total": "count: 0 = nothing is wrong",
  "due": "count: steps that can be carried out now",
  "steps": "list of RepairStep: one for each finding"
},
"RepairStep": {
  "number": "count",
  "kind": "text: of the finding",
  "finding": "text",
  "verdict": "one of repair|later|refuse: later = after others, by the next plan",
  "text": "text: what is done, or why nothing is",
  "keys": "list of RepairKey: of a repair"
},
"RepairKey": {
  "key": "text: hexadecimal",
  "before?": "text: its value, hexadecimal; not there: the key is not there",
  "after?": "text: as before"
},
"RepairChoice": {
  "plan": "text"
},
"RepairReport": {
  "filesystem": "text",
  "plan": "text",
  "done": "count",
  "changed": "count: left alone, because something had changed",
  "steps": "list of RepairOutcome"
},
"RepairOutcome": {
  "number": "count",
  "finding": "text",
  "text": "text",
  "outcome": "one of done|changed"
},
"Repairs": {
  "filesystem": "text",
  "repairs": "list of Repair"
},
"Repair": {
  "at_ns": "whole",
  "head": "text",
  "finding": "text",
  "action": "text",
  "keys": "list of RepairKey"
},
"ScrubChoice": {
  "bytes_per_second?": "count: at most; 16 MiB unless given, not below 64 KiB",
  "all?": "flag: also what no file has",
  "anew?": "flag: from the beginning, not where a stopped one was"
},
"Scrubs": {
  "scrubs": "list of Scrub"
},
"Scrub": {
  "lun": "text",
  "state": "one of running|stopped|done",
  "head": "text: that reads; empty = none yet",
  "all": "flag",
  "bytes_per_second": "count",
  "at_byte": "count: of the LUN",
  "end_byte": "count",
  "share": "number: 0 to 1",
  "read_bytes": "count",
  "bad_bytes": "count: that could not be read",
  "bad": "list of BadBytes: the first 100",
  "label": "text: what is wrong with the label; empty = nothing",
  "started_ns": "whole",
  "told_ns": "whole"
},
"BadBytes": {
  "byte": "count: of the LUN",
  "bytes": "count",
  "error": "text",
  "filesystem?": "text: if a file has them",
  "ino?": "count",
  "file_byte?": "count",
  "path?": "text: known when the scrub is done"
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
"Quotas": {
  "filesystem": "text",
  "state": "one of off|counting|on: limits hold when it is on",
  "quotas": "list of QuotaRow: of all who use something or have a limit, and of all trees"
},
"QuotaRow": {
  "kind": "one of filesystem|user|group|tree|each_user|each_group",
  "id": "count: of the user, group or tree",
  "path?": "text: of a tree: where its directory was when the tree was made",
  "marking?": "flag: of a tree: what is in it is still being counted, limits do not hold yet",
  "used_bytes": "count: as recorded",
  "used_inodes": "count",
  "limit?": "QuotaLimit: missing = none",
  "limit_of_each?": "flag: it is the limit of each user or group, not one of its own",
  "bytes_grace_left_s?": "count: above the soft limit; 0 = it is over",
  "inodes_grace_left_s?": "count: above the soft limit; 0 = it is over"
},
"QuotaLimit": {
  "bytes_hard": "count: 0 = none",
  "bytes_soft": "count: 0 = none",
  "inodes_hard": "count: 0 = none",
  "inodes_soft": "count: 0 = none",
  "bytes_grace_s": "count",
  "inodes_grace_s": "count"
},
"QuotaState": {
  "state": "one of on|off"
},
"QuotaSubject": {
  "kind": "one of filesystem|user|group|tree|each_user|each_group",
  "id?": "count: of the user, group or tree",
  "path?": "text: of a tree's directory, from the root of the filesystem, instead of id"
},
"QuotaTreePath": {
  "path": "text: of a directory, from the root of the filesystem"
},
"QuotaTree": {
  "id?": "count: its number",
  "path?": "text: of its directory, from the root of the filesystem, instead of id"
},
"QuotaEdit": {
  "kind": "one of filesystem|user|group|tree|each_user|each_group",
  "id?": "count: of the user, group or tree",
  "path?": "text: of a tree's directory, from the root of the filesystem, instead of id",
  "bytes_hard?": "count: 0 = none; what is missing stays",
  "bytes_soft?": "count",
  "inodes_hard?": "count",
  "inodes_soft?": "count",
  "bytes_grace_s?": "count: how long the soft limit may be passed",
  "inodes_grace_s?": "count"
},
"LockRange": {
  "start": "count: byte",
  "length?": "count: bytes; missing = to the end of the file",
  "type": "one of read|write"
}
})json";

}  // namespace symnas::vnfsd::api

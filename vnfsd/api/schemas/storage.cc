// LUNs, volumes, filesystems.
#include "vnfsd/api/schemas/schemas.h"

namespace symnas::vnfsd::api {

const char* const kStorageSchemas = R"json({
"Luns": {
  "luns": "list of LunRecord: by name"
},
"LunRecord": {
  "name": "text",
  "uuid": "text",
  "size_bytes": "count",
  "logical_block_bytes": "count",
  "volume": "text: empty = none",
  "identification": "text: of the SCSI or NVMe device; empty = none"
},
"LunImport": {
  "luns": "list of LunToImport"
},
"LunToImport": {
  "name": "text",
  "path": "text: absolute",
  "force?": "flag: even if it holds data"
},
"LunScan": {
  "paths?": "list of text: absolute: devices, directories or globs; none = where LUNs are sought"
},
"Devices": {
  "devices": "list of Device"
},
"Device": {
  "path": "text: its canonical node",
  "kind": "one of device|file",
  "size_bytes": "count: 0 = it could not be opened",
  "logical_block_bytes": "count: 0 = it could not be opened",
  "state": "text: free, imported, foreign, forgotten, data, damaged, in_use, too_small, ...",
  "what": "text: the state in words",
  "partition": "flag: of another device",
  "wwid": "text: of the SCSI, NVMe or multipath device; empty = unknown",
  "same_as?": "text: path of an earlier device of which it is another path or a copy",
  "blank?": "flag: if it is free: its first and last MiB are zeroes",
  "lun?": "text: if it has a label: the name in it",
  "cluster?": "text: if it has a label: the cluster's uuid",
  "volume?": "text: if it is imported: its volume; empty = none",
  "heads?": "list of text: if it is imported: the heads that see it",
  "import_as?": "text: if it is forgotten: import takes it under this name"
},
"Volumes": {
  "volumes": "list of VolumeRecord: by name"
},
"VolumeRecord": {
  "name": "text",
  "uuid": "text",
  "stripe_unit_bytes": "count",
  "size_bytes": "count",
  "segments": "count",
  "luns": "list of text",
  "filesystems": "list of text"
},
"Volume": {
  "name": "text",
  "luns": "list of text",
  "stripe_unit_bytes": "count: a power of two, 64 KiB to 16 MiB"
},
"VolumeGrowth": {
  "luns": "list of text: those that are added"
},
"Filesystems": {
  "filesystems": "list of FilesystemRecord: by name; at most 512"
},
"FilesystemRecord": {
  "name": "text",
  "fsid": "count",
  "uuid": "text",
  "volume": "text",
  "atime": "one of relatime|off",
  "acls": "one of on|off",
  "exports": "list of text"
},
"Filesystem": {
  "name": "text",
  "volume": "text",
  "root_uid?": "count: 0 if it is missing",
  "root_gid?": "count: 0 if it is missing",
  "root_mode?": "count: permission bits, at most 4095",
  "atime?": "text: relatime or off"
},
"FilesystemEdit": {
  "": "At least one of the two.",
  "atime?": "text: relatime or off",
  "acls?": "text: on"
}
})json";

}  // namespace symnas::vnfsd::api

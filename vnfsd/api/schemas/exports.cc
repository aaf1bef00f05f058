// Exports.
#include "vnfsd/api/schemas/schemas.h"

namespace symnas::vnfsd::api {

const char* const kExportSchemas = R"json({
"Exports": {
  "exports": "list of ExportRecord: by name"
},
"ExportRecord": {
  "name": "text",
  "export_id": "count",
  "filesystem": "text",
  "path": "text: within the filesystem",
  "pseudo": "text: its path in NFSv4",
  "vnfs": "list of text: the VNFSs that serve it",
  "clients": "list of text: who may mount it",
  "access": "one of rw|ro",
  "squash": "one of none|root|all",
  "anon": "text: UID:GID of those who are squashed",
  "manage_gids": "flag: groups are looked up on the head",
  "sec": "list of one of sys|krb5|krb5i|krb5p: what callers may use, in no order",
  "rules": "list of ExportRule: in the order in which they are looked at"
},
"ExportRule": {
  "who": "text",
  "access": "one of rw|ro",
  "squash": "one of none|root|all",
  "anon": "text: UID:GID",
  "sec": "list of one of sys|krb5|krb5i|krb5p"
},
"Export": {
  "name": "text",
  "filesystem": "text",
  "path?": "text: within the filesystem; / if it is missing",
  "clients?": "list of text: addresses, networks, names; everybody if it is missing",
  "rules?": "list of text: WHO:OPTIONS",
  "access?": "text: rw or ro",
  "squash?": "text: none, root or all",
  "anon?": "text: UID:GID",
  "manage_gids?": "text: on or off",
  "pseudo?": "text: its path in NFSv4",
  "sec?": "list of text: sys, krb5, krb5i, krb5p; sys if it is missing"
},
"ExportEdit": {
  "": "What is missing stays as it is.",
  "clients?": "list of text",
  "rules?": "list of text: WHO:OPTIONS",
  "access?": "text: rw or ro",
  "squash?": "text: none, root or all",
  "anon?": "text: UID:GID",
  "manage_gids?": "text: on or off",
  "pseudo?": "text: its path in NFSv4",
  "sec?": "list of text: sys, krb5, krb5i, krb5p"
},
"VnfsNames": {
  "vnfs": "list of text: at least one"
}
})json";

}  // namespace symnas::vnfsd::api

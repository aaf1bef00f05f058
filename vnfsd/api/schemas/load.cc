// Who asks how much.
#include "vnfsd/api/schemas/schemas.h"

namespace symnas::vnfsd::api {

const char* const kLoadSchemas = R"json({
"Load": {
  "vnfses": "list of LoadVnfs: those of which load is known",
  "rows": "list of LoadRow: what was asked for in that time, in no order",
  "missing": "list of LoadMissing: what is not known"
},
"LoadVnfs": {
  "vnfs": "text",
  "head": "text: its owner, which tells this",
  "span_ms": "count: the time that the rates are of"
},
"LoadRow": {
  "vnfs": "text",
  "head": "text",
  "client": "text: its address; others = all that have no row of their own",
  "export": "text: its name; id N = it is gone; empty = the pseudo filesystem, or no export",
  "protocol": "one of nfs3|nfs4|nlm4|nfsacl3",
  "operation": "text: READ, ...",
  "requests_per_s": "number",
  "errors_per_s": "number: of these",
  "read_bytes_per_s": "number",
  "written_bytes_per_s": "number",
  "mean_us": "count: time of a request",
  "worst_us": "count: since the instance counts this client"
},
"LoadMissing": {
  "vnfs": "text: empty = all of other heads, because etcd is away",
  "head": "text: its owner",
  "why": "text"
}
})json";

}  // namespace symnas::vnfsd::api

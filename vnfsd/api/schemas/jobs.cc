// Jobs.
#include "vnfsd/api/schemas/schemas.h"

namespace symnas::vnfsd::api {

const char* const kJobSchemas = R"json({
"Jobs": {
  "jobs": "list of Job: by id; the last 32 of this head"
},
"JobReply": {
  "job": "Job"
},
"Job": {
  "id": "count",
  "kind": "text: the operation that was asked for: checkFilesystem, fenceHead, drainHead",
  "what": "text: what it was asked for: filesystems/u04",
  "by": "text: the caller",
  "role": "one of viewer|operator|admin: the least role that sees its result and cancels it",
  "state": "one of running|done|failed|cancelled|interrupted: interrupted = vnfsd has ended",
  "began_ns": "count: ns since 1970",
  "ended_ns?": "count: if it has ended",
  "share?": "number: how much is done, 0 to 1; missing = unknown",
  "text": "text: what is being done",
  "kept_by": "text: why it cannot be cancelled; empty = it can",
  "error?": "ErrorDetail: if it is failed, cancelled or interrupted",
  "result?": "any: if it is done: what the operation replies without async"
}
})json";

}  // namespace symnas::vnfsd::api

// Heads, networks, etcd's members; what all requests have.
#include "vnfsd/api/schemas/schemas.h"

namespace symnas::vnfsd::api {

const char* const kClusterSchemas = R"json({
"Done": {
  "done": "list of text: what was done, or would be (dry_run), a line each; at least one"
},
"Error": {
  "error": "ErrorDetail"
},
"ErrorDetail": {
  "code": "text: a stable word: not_found, invalid_argument, busy, ...",
  "message": "text: for a person: the object, what was tried, why it failed, what to do next"
},
"Heads": {
  "heads": "list of Head: by name; at most 16"
},
"Head": {
  "name": "text",
  "address": "text: of the management network",
  "incarnation": "text: its boot; empty = it never started",
  "agent_started_ns": "count: when its vnfsd started, ns since 1970",
  "version": "text: of its vnfsd",
  "level": "count: the highest level of records that it knows",
  "state": "one of serving|draining|fencing|unfenced|fenced|unknown: unknown = it never started",
  "lun_paths": "list of text: where it looks for LUNs",
  "luns": "list of text: the LUNs that it says it sees",
  "draining": "flag",
  "fence?": "Fence: if it was or is being fenced"
},
"Fence": {
  "state": "one of running|failed|proven|done",
  "by": "text: the head that fences it",
  "began_ns": "count: ns since 1970",
  "proof": "text: what proves that it can do nothing more; empty = nothing yet",
  "error": "text: why it failed; empty = it did not"
},
"Invitation": {
  "name": "text: of the head",
  "address": "text: its IP address on the management network",
  "etcd_member?": "flag: its etcd becomes a member; false if it is missing"
},
"Invited": {
  "done": "list of text",
  "bundle?": "Bundle: missing if nothing was done (dry_run)"
}
, "Bundle" : {
  "" : "What `symnas head join` takes. Holds a private key.",
  "symnas_bundle" : "count: version of this form",
  "cluster" : "BundleCluster",
  "head" : "BundleHead",
  "etcd" : "BundleEtcd"
},
             "BundleCluster" : {"name" : "text", "uuid" : "text"},
                               "BundleHead"
    : {"name" : "text", "address" : "text", "admission" : "text: says that this head was invited"},
      "BundleEtcd" : {
        "endpoints" : "list of text",
        "initial_cluster" : "list of text",
        "quota_bytes" : "count",
        "ca" : "text: PEM",
        "certificate" : "text: PEM",
        "key" : "text: PEM; a secret"
      },
                     "Members" : {"members" : "list of Member"},
                                 "Member" : {
                                   "name" : "text: empty = it has not started yet",
                                   "id" : "text: hexadecimal",
                                   "peer_url" : "text",
                                   "client_url" : "text",
                                   "role" : "one of voter|learner"
                                 },
                                            "Networks"
    : {"networks" : "list of NetworkRecord: by name; at most 4"},
      "NetworkRecord" : {
        "name" : "text",
        "device" : "text: on every head",
        "mtu" : "count: bytes; 0 = the device's",
        "gateway" : "text: of each family at most one, separated by a comma; empty = none"
      },
                        "Network" : {
                          "name" : "text",
                          "device" : "text: on every head",
                          "mtu?" : "count: bytes; 0 = the device's",
                          "gateway?" : "text: of each family at most one, separated by a comma"
                        },
                                    "Decider" : {
  "decider" : "one of builtin|pacemaker|keepalived"
}
})json";

}  // namespace symnas::vnfsd::api

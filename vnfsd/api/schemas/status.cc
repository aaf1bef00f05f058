// Status, events.
#include "vnfsd/api/schemas/schemas.h"

namespace symnas::vnfsd::api {

const char* const kStatusSchemas = R"json({
"Status": {
  "head": "text: this head, which sees all this",
  "error?": "text: why etcd does not answer; then there are no cluster and no heads",
  "cluster?": "Cluster",
  "heads?": "list of Head",
  "vnfs": "list of VnfsState: without etcd those with an instance on this head",
  "instances": "map of Instance: of this head, by VNFS",
  "etcd": "list of EtcdSight",
  "quota": "Quota",
  "luns": "list of LunSight",
  "networks": "list of NetworkSight",
  "failover": "Trouble: why nothing could be failed over",
  "reservations?": "Trouble: why this head is not registered on all LUNs; missing = not used",
  "fence_agent": "Trouble: what its last check said",
  "silent": "list of SilentHead: heads that are not heard and not fenced, with the reason",
  "unheard": "list of UnheardHead: heads of which no sign comes now, fenced ones too",
  "corosync?": "Corosync: with [detection] corosync",
  "clocks": "list of Clock: empty while no other head is heard",
  "certificates": "list of EndingCertificate: on this head, that end within 30 days or have ended",
  "stalls": "list of Stall: mounts that keep others waiting",
  "arrivals": "list of Arrival"
},
"Trouble": {
  "error": "text: empty = nothing"
},
"Cluster": {
  "name": "text",
  "uuid": "text",
  "config_version": "count",
  "level": "count",
  "level_possible": "count: to which it could be raised",
  "decider": "one of builtin|pacemaker|keepalived",
  "revision": "count: of etcd"
},
"VnfsState": {
  "": "A VNFS as in /v1/vnfs, with its state. Without etcd only name, state and instance.",
  "name": "text",
  "state": "text: of its instance; unheard, owned, stopped, waiting: see SeenInstance",
  "instance?": "SeenInstance: on whatever head",
  "vnfs_id?": "count",
  "vips?": "list of Vip",
  "exports?": "list of text",
  "heads?": "list of text",
  "wanted?": "one of started|stopped",
  "failback?": "one of auto|manual",
  "pinned?": "text",
  "owner?": "text",
  "epoch?": "count",
  "version?": "text",
  "level?": "count",
  "clients?": "list of text",
  "keytab?": "list of KeytabKey",
  "owner_domain?": "text",
  "move?": "Move"
},
"Instance": {
  "state": "one of prepared|starting|serving|fencing|waiting|stopping|stopped",
  "phase": "text: of its lifecycle, finer than the state (docs/architecture/lifecycle.md)",
  "pid": "count: 0 = none",
  "epoch": "count",
  "since_ns": "count: of the state, ns since 1970",
  "restarts": "count: in place, since vnfsd started",
  "last_exit": "text",
  "error": "text: why it is not further, or what it does not serve; empty = nothing is wrong",
  "vips_taken": "text: the VIPs that it has not, and who answers for them; empty = it has all"
},
"SeenInstance": {
  "": "Of an instance on this head as Instance. Of another head what that has told.",
  "state": "one of prepared|starting|serving|fencing|waiting|stopping|stopped",
  "phase?": "text: as in Instance; empty = the head's version does not tell",
  "pid?": "count: on this head only",
  "head?": "text: the other head",
  "told_ns?": "count: when it told this, ns since 1970 by its clock",
  "heard_ns?": "count: it is not heard since, so all this is of the past; the VNFS is unheard",
  "epoch?": "count",
  "since_ns?": "count",
  "restarts?": "count",
  "last_exit?": "text",
  "error?": "text",
  "vips_taken?": "text"
},
"EtcdSight": {
  "endpoint": "text",
  "reachable": "flag",
  "leader": "flag",
  "no_space": "flag",
  "db_size_bytes": "count",
  "db_in_use_bytes": "count",
  "revision": "count",
  "error": "text"
},
"Quota": {
  "level": "one of free|reserve|critical",
  "quota_bytes": "count",
  "in_use_permille": "count"
},
"LunSight": {
  "name": "text",
  "path": "text: on this head; empty = not found",
  "error": "text: why it is not used, or is ill; empty = nothing"
},
"NetworkSight": {
  "name": "text",
  "device": "text",
  "error": "text: empty = it is well"
},
"SilentHead": {
  "head": "text",
  "why": "text"
},
"UnheardHead": {
  "head": "text",
  "heard_ns": "whole: the last sign of it, ns since 1970"
},
"Corosync": {
  "error": "text: why nothing is known; empty = it answers",
  "quorate": "flag: this head is in its majority",
  "heads": "list of CorosyncHead",
  "no_node": "list of text: heads that corosync does not know",
  "strangers": "list of text: its nodes that are no heads"
},
"CorosyncHead": {
  "head": "text",
  "state": "one of member|lost|absent: absent = no member since vnfsd listens"
},
"Clock": {
  "head": "text",
  "ahead_ms": "whole: of the median of the heads' clocks",
  "off": "flag: by more than a second"
},
"Stall": {
  "filesystem": "text",
  "vnfs": "text",
  "head": "text",
  "mount": "count",
  "silent_ms": "count: 0 = it lives",
  "waited_ms": "count",
  "waiting": "count: wants that wait for it",
  "next": "text: what happens, or what to do"
},
"Arrival": {
  "vnfs": "text",
  "cause": "one of start|restart|move|failover",
  "count": "count: since vnfsd started",
  "timed": "count: those of known blackout",
  "blackout_ms": "count: sum over those"
},
"OpenApi": {
  "": "An OpenAPI 3.1 document.",
  "openapi": "text",
  "info": "any",
  "paths": "any",
  "components": "any"
},
"Events": {
  "events": "list of Event: in order; each head keeps its last 128",
  "revision": "count: where to go on: ?after=",
  "lost": "list of text: heads whose older events may be gone"
},
"Event": {
  "revision": "count: of etcd",
  "by": "text: the head that wrote it",
  "at_ns": "whole: ns since 1970",
  "kind": "text: change, move-ordered, fenced, head-silent, ...",
  "head": "text: that it is about; empty = none",
  "vnfs": "text: that it is about; empty = none",
  "text": "text",
  "blackout_ms?": "count: if it is known"
}
})json";

}  // namespace symnas::vnfsd::api

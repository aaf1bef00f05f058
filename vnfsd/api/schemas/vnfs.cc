// VNFSs, and where they run.
#include "vnfsd/api/schemas/schemas.h"

namespace symnas::vnfsd::api {

const char* const kVnfsSchemas = R"json({
"VnfsList": {
  "vnfs": "list of VnfsRecord: by name"
},
"VnfsRecord": {
  "name": "text",
  "vnfs_id": "count",
  "vips": "list of Vip: at most 4",
  "exports": "list of text",
  "heads": "list of text: the first is its primary",
  "wanted": "one of started|stopped",
  "failback": "one of auto|manual",
  "pinned": "text: the head to which it was ordered; empty = none",
  "owner": "text: the head that serves it; empty = none",
  "epoch?": "count: of its instance, if it has an owner, as the two below",
  "version?": "text",
  "level?": "count",
  "clients": "list of text: addresses of those that were connected a moment ago",
  "keytab": "list of KeytabKey: with which keys it takes Kerberos; none: it takes none",
  "owner_domain?": "text: of owners that NFSv4 clients name, if it has a keytab",
  "move?": "Move: an order under way"
},
"KeytabKey": {
  "principal": "text",
  "kvno": "count",
  "enctype": "text"
},
"Keytab": {
  "keytab": "text: the file, in base64; it is secret, and shown nowhere",
  "owner_domain?": "text: of owners that NFSv4 clients name; empty: the realm; missing: it stays"
},
"Vip": {
  "address": "text",
  "prefix_length": "count",
  "network": "text"
},
"Move": {
  "from": "text",
  "to": "text",
  "ordered_ns": "count: ns since 1970",
  "answered": "flag: the new head is ready for it",
  "cause": "one of administrator|drain|storage|network|failback",
  "refusal": "text: why the new head does not take it; empty = it does"
},
"Vnfs": {
  "name": "text",
  "vips": "list of text: ADDRESS/PREFIX, at most 4",
  "networks": "list of text: one for each VIP, or one for all",
  "exports": "list of text",
  "heads": "list of text: the first is its primary",
  "failback?": "text: auto or manual"
},
"VnfsSet": {
  "prefix": "text: of the names: PREFIX1, PREFIX2, ...",
  "vip_ranges": "list of text: FIRST/PREFIX@NETWORK",
  "exports": "list of text",
  "heads?": "list of text: all heads if it is missing",
  "failback?": "text: auto or manual"
},
"VnfsEdit": {
  "": "What is missing stays as it is.",
  "failback?": "text: auto or manual",
  "heads?": "list of text: the first becomes its primary"
},
"Rehost": {
  "head": "text",
  "pin?": "flag: it stays there; true if it is missing"
},
"Restart": {
  "epoch?": "count: of the instance that is meant; 0 or missing = whichever it is"
},
"DeciderOrder": {
  "decider": "one of builtin|pacemaker|keepalived",
  "head": "text"
},
"Placement": {
  "heads": "list of PlacementHead",
  "vnfs": "list of PlacementVnfs"
},
"PlacementHead": {
  "name": "text",
  "state": "one of serving|draining|fencing|unfenced|fenced|unknown"
},
"PlacementVnfs": {
  "name": "text",
  "state": "text: a state of an instance, moving to HEAD, held, unheard, waiting, ...",
  "why": "text: unless it is served where it should be",
  "owner": "text: empty = nobody",
  "failback": "one of auto|manual",
  "pinned": "text: empty = to no head",
  "exports_problem": "text: why its exports are not served as recorded; empty = they are",
  "places": "map of text: by head: P = primary, 1, 2, ...; * = it has it"
},
"Distribution": {
  "moves": "list of PlannedMove"
},
"PlannedMove": {
  "vnfs": "text",
  "from": "text",
  "to": "text"
},
"VnfsHistory": {
  "history": "list of Transition: by time; the last 32 instances"
},
"Transition": {
  "cause": "one of start|restart|move|failover",
  "from": "text: empty = from nowhere",
  "to": "text",
  "epoch": "count",
  "began_ns": "whole: ns since 1970",
  "blackout_ms?": "count: if it is known",
  "steps": "list of Step: by time",
  "kept": "count: requests that were left to the new instance",
  "error": "text"
},
"Step": {
  "name": "text",
  "at_ns": "whole: ns since 1970"
},
"Why": {
  "vnfs": "text",
  "head": "text",
  "verdict": "one of runs|coming|next|may|may_not: next = by itself; may = an order moves it there",
  "role": "text: primary, backup 1, ..., none of its heads",
  "standby": "one of none|starting|ready: on that head",
  "owner": "text: empty = nobody",
  "state": "text: as in /v1/placement",
  "why": "text: as in /v1/placement",
  "planned": "Planned: where the planner has it, as if every head had settled",
  "reasons": "list of Reason: what keeps it from that head, also if it runs there",
  "ways": "list of Way: if the verdict is may",
  "notes": "list of text: what this head has seen and the planner does not ask for"
},
"Planned": {
  "head": "text: empty = none",
  "reason": "text: a stable word",
  "text": "text"
},
"Reason": {
  "kind": "text: a stable word: draining, luns, networks, ...",
  "orders": "one of all|own: own = an administrator may order it there all the same",
  "why": "text",
  "next": "text: what to do about it"
},
"Way": {
  "kind": "one of rehost|failback|not_by_itself|takeover",
  "what": "text",
  "next": "text: the command; empty = nothing is to be done"
},
"Standing": {
  "vnfs": "text",
  "head": "text",
  "standing": "one of serving|moving|sick|stopped",
  "why": "text",
  "owner": "text: empty = nobody"
}
})json";

}  // namespace symnas::vnfsd::api

// What to know before a VNFS is moved: its clients, how long they will wait, and how full the other head
// gets. (How many owners have locks is in vnfsd's dry run, above it.)
import { apiPath } from "../api/change";
import type { Capacity, Placement, VnfsHistory, VnfsList } from "../api/schema";
import { bytesText, millisText } from "../model/format";
import { expectedPause } from "../model/history";
import { roomOn } from "../model/placement";
import { useSeen } from "./context";

const ONCE_MS = 60_000;

function pauseText(history: VnfsHistory | undefined, head: string): string {
  if (!history) return "...";
  const expected = expectedPause(history.history, head);
  if (!expected) return "not known: no move of it is remembered";
  const which = expected.toHead ? `moves to ${head}` : "moves, none of them to this head";
  const worst = `the longest ${millisText(expected.worst)}`;
  return `about ${millisText(expected.ms)}, as in ${expected.moves} ${which} (${worst})`;
}

function memoryText(capacity: Capacity | undefined, vnfs: string): string {
  const one = capacity?.instances.find((instance) => instance.vnfs === vnfs);
  return one ? bytesText(one.resident_bytes) : "known only to the head that has it";
}

export function MoveImpact({ vnfs, head }: { vnfs: string; head: string }) {
  const list = useSeen<VnfsList>("/v1/vnfs", ONCE_MS).data;
  const history = useSeen<VnfsHistory>(apiPath`/v1/vnfs/${vnfs}/history`, ONCE_MS).data;
  const placement = useSeen<Placement>("/v1/placement", ONCE_MS).data;
  const capacity = useSeen<Capacity>("/v1/capacity", ONCE_MS).data;
  const clients = list?.vnfs.find((one) => one.name === vnfs)?.clients ?? [];
  const room = placement && roomOn(placement, vnfs, head);
  return (
    <dl className="sy-why" data-testid="impact">
      <div>
        <dt>Clients</dt>
        <dd>{`${clients.length}${clients.length > 0 ? `: ${clients.slice(0, 8).join(", ")}` : ""}`}</dd>
      </div>
      <div>
        <dt>Expected pause</dt>
        <dd>{pauseText(history, head)}</dd>
      </div>
      <div>
        <dt>{`Room on ${head}`}</dt>
        <dd>
          {room
            ? `serves ${room.before} VNFSs, then ${room.after}; an even share is ${room.share}`
            : "..."}
        </dd>
      </div>
      <div>
        <dt>Memory of the instance</dt>
        <dd>{memoryText(capacity, vnfs)}</dd>
      </div>
    </dl>
  );
}

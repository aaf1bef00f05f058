// The first page: VNFSs against heads, to be dragged or reached by keys.
import { Alert, SearchInput } from "../patternfly";
import { useCallback, useMemo, useRef, useState } from "react";
import { whyOff, type Change } from "../api/change";
import { failback, orderHeads, rehost } from "../api/commands";
import type { Placement, Status, VnfsList } from "../api/schema";
import {
  byName,
  placeName,
  rowsOf,
  withHeadAt,
  withPlaceDragged,
  withoutHead,
  type Row,
} from "../model/placement";
import { CellMenu, type CellAction } from "../widgets/cell_menu";
import { usePage, useObserved, useSeen } from "../widgets/context";
import { MatrixGrid, type CellPlace, type DragKind } from "../widgets/matrix_grid";
import { MoveImpact } from "../widgets/move_impact";
import { Loading } from "../widgets/page_frame";
import { WhoDialog, WhyDialog } from "../widgets/why_dialog";

const POLL_MS = 2000;

function useRows(): { rows: Row[]; placement?: Placement } {
  const placement = useSeen<Placement>("/v1/placement", POLL_MS).data;
  const list = useSeen<VnfsList>("/v1/vnfs", POLL_MS).data;
  const status = useSeen<Status>("/v1/status", POLL_MS).data;
  const before = useRef<Row[]>([]);
  const rows = useMemo(() => {
    before.current = rowsOf(placement, list, status, before.current);
    return before.current;
  }, [placement, list, status]);
  return { rows, placement };
}

function orderChange(row: Row, heads: string[]): Change {
  return orderHeads(row.name, heads, row.heads);
}

// What can be done with `row` at `head`.
function useActions(onWhy: () => void) {
  const { ask, console } = usePage();
  const role = useObserved(console.role);
  const operator = whyOff(role, "operator");
  const admin = whyOff(role, "admin");
  return (row: Row, head: string): CellAction[] => {
    const at = row.heads.indexOf(head);
    const move = () =>
      ask(rehost(row.name, head, row.owner), <MoveImpact vnfs={row.name} head={head} />);
    const actions: CellAction[] = [
      { key: "why", label: `Why may ${row.name} run on ${head}, or not?`, off: "", run: onWhy },
      {
        key: "rehost",
        label: `Move ${row.name} to ${head}`,
        off: operator || (row.owner === head ? `${head} has it already` : ""),
        run: move,
      },
    ];
    const places = Math.max(row.heads.length, at < 0 ? row.heads.length + 1 : 0);
    for (let place = 0; place < places; place += 1) {
      if (place === at) continue;
      actions.push({
        key: `place-${place}`,
        label: `Make ${head} its ${placeName(place)}`,
        off: admin,
        run: () => ask(orderChange(row, withHeadAt(row.heads, head, place))),
      });
    }
    if (at >= 0) {
      const last = row.heads.length === 1 ? "it is the only one" : "";
      actions.push({
        key: "remove",
        label: `Take ${head} off its heads`,
        off: admin || last,
        run: () => ask(orderChange(row, withoutHead(row.heads, head))),
      });
    }
    if (row.owner === head && at > 0) {
      actions.push({
        key: "failback",
        label: `Move ${row.name} back to its primary`,
        off: operator,
        run: () =>
          ask(
            failback(row.name, row.owner),
            <MoveImpact vnfs={row.name} head={row.heads[0] ?? ""} />,
          ),
      });
    }
    return actions;
  };
}

function Legend() {
  return (
    <p className="sy-subtle">
      P: primary; 1, 2, …: backups, in their order. The cell with a state has the VNFS: drag it to
      move the VNFS. Drag a letter or number to another place to change the order. Click a VNFS to
      see who may take it, and why not. By keys: arrows, then Enter.
    </p>
  );
}

// What follows when a cell was dragged: asked for the rows as they are then.
function useDrop(rows: readonly Row[]) {
  const { ask } = usePage();
  const current = useRef(rows);
  current.current = rows;
  return useCallback(
    (vnfs: string, kind: DragKind, from: string, to: string) => {
      const row = current.current.find((one) => one.name === vnfs);
      if (!row) return;
      if (kind === "owner") {
        ask(rehost(vnfs, to, from), <MoveImpact vnfs={vnfs} head={to} />);
        return;
      }
      ask(orderChange(row, withPlaceDragged(row.heads, from, to)));
    },
    [ask],
  );
}

export function MatrixPage() {
  const { console } = usePage();
  const { rows, placement } = useRows();
  const role = useObserved(console.role);
  const heads = useMemo(() => byName(placement?.heads), [placement]);
  const [filter, setFilter] = useState("");
  const [open, setOpen] = useState<CellPlace>();
  const [why, setWhy] = useState<{ vnfs: string; head: string }>();
  const actions = useActions(() => open && setWhy({ vnfs: open.vnfs, head: open.head }));
  const shown = useMemo(() => {
    const word = filter.toLowerCase();
    if (word === "") return rows;
    return rows.filter((row) =>
      `${row.name} ${row.state} ${row.owner}`.toLowerCase().includes(word),
    );
  }, [rows, filter]);
  const onDrop = useDrop(rows);
  const onClose = useCallback(() => setOpen(undefined), []);
  if (!placement) return <Loading path="/v1/placement" />;
  const row = open && rows.find((one) => one.name === open.vnfs);
  return (
    <div className="sy-stack">
      <Legend />
      {rows.length > 10 && (
        <SearchInput
          aria-label="Show only VNFSs with these letters in name, state or head"
          placeholder="Name, state or head"
          value={filter}
          onChange={(_event, value) => setFilter(value)}
          onClear={() => setFilter("")}
        />
      )}
      {rows.length === 0 ? (
        <Alert
          component="p"
          variant="info"
          isInline
          title="There is no VNFS yet: symnas quickstart proposes the commands that make one"
        />
      ) : (
        <MatrixGrid
          heads={heads}
          rows={shown}
          draggable={whyOff(role, "operator") === ""}
          onOpen={setOpen}
          onDrop={onDrop}
        />
      )}
      {open?.head === "" && <WhoDialog vnfs={open.vnfs} heads={heads} onClose={onClose} />}
      {open && open.head !== "" && row && (
        <CellMenu
          anchor={open.anchor}
          label={`${open.vnfs} on ${open.head}`}
          actions={actions(row, open.head)}
          onClose={onClose}
        />
      )}
      {why && <WhyDialog vnfs={why.vnfs} head={why.head} onClose={() => setWhy(undefined)} />}
    </div>
  );
}

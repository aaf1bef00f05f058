// The matrix: a row per VNFS, a column per head. One cell can be reached by Tab, arrows go on from it;
// Enter, Space or a click opens what can be done there, or at a VNFS who may take it. A cell that is dragged within its row moves the
// VNFS (from the head that has it) or changes the order of its heads (from another one).
import { memo, useCallback, useMemo, useState, type DragEvent, type KeyboardEvent } from "react";
import type { PlacementHead } from "../api/schema";
import { clockText, countText } from "../model/format";
import type { Cell, Row } from "../model/placement";
import { StateLabel } from "./state_label";

const HEADER = -1; // the column of the VNFSs' names
const SPACIOUS = 8; // heads: with more of them what is as usual is shown short

export type DragKind = "owner" | "rank";

export interface CellPlace {
  vnfs: string;
  head: string; // "": the VNFS itself
  anchor: HTMLElement;
}

export interface GridActions {
  onOpen(place: CellPlace): void;
  onDrop(vnfs: string, kind: DragKind, from: string, to: string): void;
}

interface Drag {
  vnfs: string;
  kind: DragKind;
  head: string;
}

interface GridProps extends GridActions {
  heads: readonly PlacementHead[];
  rows: readonly Row[];
  draggable: boolean;
}

function describe(row: Row, cell: Cell): string {
  const rank =
    cell.rank === "P" ? "primary" : cell.rank ? `backup ${cell.rank}` : "none of its heads";
  const here = cell.owns ? ", has it" : "";
  const coming = row.movingTo === cell.head ? ", is moving here" : "";
  // What is seen comes first, for whoever speaks to the browser.
  const seen = [cell.rank, cell.owns ? row.state : ""].filter((word) => word !== "").join(" ");
  return `${seen}${seen ? ": " : ""}${row.name} on ${cell.head}, ${rank}${here}${coming}`;
}

interface CellProps {
  row: Row;
  cell: Cell;
  column: number;
  active: boolean;
  draggable: boolean;
  dense: boolean;
  target: boolean;
}

// In a matrix of many heads.
function Serving() {
  return (
    <span className="sy-serving" aria-hidden="true">
      ✓
    </span>
  );
}

function MatrixCell({ row, cell, column, active, draggable, dense, target }: CellProps) {
  const movable = draggable && (cell.rank !== "" || cell.owns);
  const classes = ["sy-cell"];
  if (cell.owns) classes.push("sy-owner");
  if (row.movingTo === cell.head) classes.push("sy-coming");
  if (target) classes.push("sy-target");
  return (
    <td
      role="gridcell"
      className={classes.join(" ")}
      data-testid={`cell-${row.name}-${cell.head}`}
      data-vnfs={row.name}
      data-head={cell.head}
      data-column={column}
      data-rank={cell.rank}
      data-owner={cell.owns}
      tabIndex={active ? 0 : -1}
      aria-label={describe(row, cell)}
      aria-haspopup="menu"
      draggable={movable}
    >
      {cell.rank !== "" && (
        <span className="sy-rank" data-drag="rank" draggable={movable}>
          {cell.rank}
        </span>
      )}
      {cell.rank !== "" && " "}
      {cell.owns &&
        (dense && row.state === "serving" ? <Serving /> : <StateLabel state={row.state} />)}
    </td>
  );
}

interface RowProps {
  row: Row;
  active?: number; // the column that Tab reaches; undefined: none of this row
  drag?: Drag; // of this row
  draggable: boolean;
  dense: boolean;
}

const MatrixRow = memo(function MatrixRow({ row, active, drag, draggable, dense }: RowProps) {
  const since = row.sinceNs ? ` since ${clockText(row.sinceNs / 1e6)}` : "";
  return (
    <tr role="row">
      <th
        role="rowheader"
        scope="row"
        className="sy-vnfs"
        data-testid={`vnfs-${row.name}`}
        data-vnfs={row.name}
        data-column={HEADER}
        tabIndex={active === HEADER ? 0 : -1}
        aria-haspopup="dialog"
        title={`Who may take ${row.name}, and why not?`}
      >
        <span className="sy-vnfs-name">{row.name}</span>
        <span className="sy-subtle" data-testid={`state-${row.name}`}>
          {`${row.state}${row.owner ? ` on ${row.owner}` : ""}${since}, ${countText(row.clients, "client")}`}
        </span>
        {row.why !== "" && <span className="sy-warning">{row.why}</span>}
      </th>
      {row.cells.map((cell, column) => (
        <MatrixCell
          key={cell.head}
          row={row}
          cell={cell}
          column={column}
          active={active === column}
          draggable={draggable}
          dense={dense}
          target={drag !== undefined && drag.head !== cell.head}
        />
      ))}
    </tr>
  );
});

function cellOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[data-vnfs]") : null;
}

// Where an arrow leads from a cell; undefined: nowhere.
function neighbour(cell: HTMLElement, key: string): HTMLElement | null | undefined {
  const column = Number(cell.dataset.column);
  const row = cell.parentElement;
  const at = (line: Element | null | undefined, wanted: number) =>
    line?.querySelector<HTMLElement>(`[data-column="${wanted}"]`);
  if (key === "ArrowRight") return at(row, column + 1);
  if (key === "ArrowLeft") return at(row, column - 1);
  if (key === "ArrowDown") return at(row?.nextElementSibling, column);
  if (key === "ArrowUp") return at(row?.previousElementSibling, column);
  if (key === "Home") return at(row, HEADER);
  if (key === "End") return row?.querySelector<HTMLElement>("td:last-child");
  return undefined;
}

function openCell(cell: HTMLElement, onOpen: GridActions["onOpen"]): void {
  onOpen({ vnfs: cell.dataset.vnfs ?? "", head: cell.dataset.head ?? "", anchor: cell });
}

// Which cell Tab reaches, and the keys.
function useRoving(rows: readonly Row[], onOpen: GridActions["onOpen"]) {
  const [place, setPlace] = useState({ vnfs: "", column: 0 });
  const known = rows.some((row) => row.name === place.vnfs);
  const vnfs = known ? place.vnfs : (rows[0]?.name ?? "");
  const onFocus = useCallback((event: { target: EventTarget }) => {
    const cell = cellOf(event.target);
    if (cell) setPlace({ vnfs: cell.dataset.vnfs ?? "", column: Number(cell.dataset.column) });
  }, []);
  const onKeyDown = useCallback(
    (event: KeyboardEvent) => {
      const cell = cellOf(event.target);
      if (!cell) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        openCell(cell, onOpen);
        return;
      }
      const next = neighbour(cell, event.key);
      if (next === undefined) return;
      event.preventDefault();
      next?.focus();
    },
    [onOpen],
  );
  return { vnfs, column: known ? place.column : 0, onFocus, onKeyDown };
}

function useDragging(onDrop: GridActions["onDrop"]) {
  const [drag, setDrag] = useState<Drag>();
  const handlers = useMemo(() => {
    let current: Drag | undefined; // the state is behind while events come
    const set = (next: Drag | undefined) => {
      current = next;
      setDrag(next);
    };
    return {
      onDragStart(event: DragEvent) {
        const cell = cellOf(event.target);
        if (!cell) return;
        const rank = event.target instanceof Element && event.target.closest("[data-drag=rank]");
        const kind = cell.dataset.owner === "true" && !rank ? "owner" : "rank";
        event.dataTransfer.effectAllowed = "move";
        event.dataTransfer.setData("text/plain", `${cell.dataset.vnfs} ${cell.dataset.head}`);
        set({ vnfs: cell.dataset.vnfs ?? "", kind, head: cell.dataset.head ?? "" });
      },
      onDragOver(event: DragEvent) {
        if (current && cellOf(event.target)?.dataset.vnfs === current.vnfs) event.preventDefault();
      },
      onDrop(event: DragEvent) {
        const cell = cellOf(event.target);
        const from = current;
        event.preventDefault();
        set(undefined);
        const to = cell?.dataset.head ?? "";
        if (!from || cell?.dataset.vnfs !== from.vnfs || to === "" || to === from.head) return;
        onDrop(from.vnfs, from.kind, from.head, to);
      },
      onDragEnd: () => set(undefined),
    };
  }, [onDrop]);
  return { drag, handlers };
}

export function MatrixGrid({ heads, rows, draggable, onOpen, onDrop }: GridProps) {
  const roving = useRoving(rows, onOpen);
  const { drag, handlers } = useDragging(onDrop);
  const owned = useMemo(() => {
    const counts = new Map<string, number>();
    for (const row of rows) counts.set(row.owner, (counts.get(row.owner) ?? 0) + 1);
    return counts;
  }, [rows]);
  const dense = heads.length > SPACIOUS;
  return (
    <div className="sy-matrix-scroll">
      <table
        role="grid"
        className={dense ? "sy-matrix sy-dense" : "sy-matrix"}
        data-testid="matrix"
        aria-label="VNFSs and the heads that may serve them"
        onFocus={roving.onFocus}
        onKeyDown={roving.onKeyDown}
        onClick={(event) => {
          const cell = cellOf(event.target);
          if (cell) openCell(cell, onOpen);
        }}
        {...handlers}
      >
        <thead>
          <tr role="row">
            <th role="columnheader" scope="col" className="sy-vnfs">
              VNFS
            </th>
            {heads.map((head) => (
              <th role="columnheader" scope="col" key={head.name} data-testid={`head-${head.name}`}>
                <span className="sy-vnfs-name">{head.name}</span>
                {!(dense && head.state === "serving") && <StateLabel state={head.state} />}
                <span className="sy-subtle">{countText(owned.get(head.name) ?? 0, "VNFS")}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <MatrixRow
              key={row.name}
              row={row}
              active={row.name === roving.vnfs ? roving.column : undefined}
              drag={drag?.vnfs === row.name ? drag : undefined}
              draggable={draggable}
              dense={dense}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

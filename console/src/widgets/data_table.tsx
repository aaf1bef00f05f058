// A table of rows with a filter and pages, once there are many of them. On a phone a row is a block.
import { Pagination, SearchInput } from "../patternfly";
import { useMemo, useState, type ReactNode } from "react";

export interface Column<T> {
  title: string;
  show(row: T): ReactNode;
}

interface DataTableProps<T> {
  kind: string; // of rows, for tests: row-KIND-NAME
  caption: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  name(row: T): string; // unique
  text?(row: T): string; // what the filter looks through; the name unless given
  details?(row: T): ReactNode; // below the row
  empty?: string;
}

const PAGE_SIZE = 100;
const FILTERED_FROM = 10;

export function DataTable<T>(props: DataTableProps<T>) {
  const { kind, caption, rows, columns, name, text = name, details, empty = "None." } = props;
  const [filter, setFilter] = useState("");
  const [page, setPage] = useState(1);
  const matching = useMemo(() => {
    const word = filter.toLowerCase();
    return word === "" ? rows : rows.filter((row) => text(row).toLowerCase().includes(word));
    // (`text` is made anew by each render, and means the same.)
  }, [rows, filter]);
  const pages = Math.max(1, Math.ceil(matching.length / PAGE_SIZE));
  const at = Math.min(page, pages);
  const shown = matching.slice((at - 1) * PAGE_SIZE, at * PAGE_SIZE);
  if (rows.length === 0) return <p className="sy-subtle">{empty}</p>;
  return (
    <>
      {rows.length > FILTERED_FROM && (
        <SearchInput
          aria-label={`Show only those of ${caption} with these letters`}
          placeholder="Filter"
          value={filter}
          onChange={(_event, value) => {
            setFilter(value);
            setPage(1);
          }}
          onClear={() => setFilter("")}
        />
      )}
      {pages > 1 && (
        <Pagination
          isCompact
          itemCount={matching.length}
          perPage={PAGE_SIZE}
          perPageOptions={[]}
          page={at}
          onSetPage={(_event, next) => setPage(next)}
          titles={{ paginationAriaLabel: `Pages of ${caption}` }}
        />
      )}
      <table className="pf-v6-c-table pf-m-compact pf-m-grid-md" role="table" aria-label={caption}>
        <thead className="pf-v6-c-table__thead">
          <tr className="pf-v6-c-table__tr" role="row">
            {columns.map((column) => (
              <th key={column.title} className="pf-v6-c-table__th" role="columnheader" scope="col">
                {column.title || <span className="pf-v6-screen-reader">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="pf-v6-c-table__tbody" role="rowgroup">
          {shown.map((row) => (
            <TableRow key={name(row)} {...{ kind, row, columns, details }} id={name(row)} />
          ))}
        </tbody>
      </table>
    </>
  );
}

interface TableRowProps<T> {
  kind: string;
  id: string;
  row: T;
  columns: readonly Column<T>[];
  details?(row: T): ReactNode;
}

function TableRow<T>({ kind, id, row, columns, details }: TableRowProps<T>) {
  const more = details?.(row);
  return (
    <>
      <tr className="pf-v6-c-table__tr" role="row" data-testid={`row-${kind}-${id}`}>
        {columns.map((column) => (
          <td
            key={column.title}
            className="pf-v6-c-table__td"
            role="cell"
            data-label={column.title}
          >
            {column.show(row)}
          </td>
        ))}
      </tr>
      {more && (
        <tr className="pf-v6-c-table__tr" role="row">
          <td className="pf-v6-c-table__td" role="cell" colSpan={columns.length}>
            {more}
          </td>
        </tr>
      )}
    </>
  );
}

// Byte-range locks: who holds what of which file, and how to clear those of clients that are gone.
import { Alert, Button } from "../patternfly";
import { useMemo, useState } from "react";
import { clearLocks, type LockChoice } from "../api/commands";
import type { Filesystems, Lock, Locks, VnfsList } from "../api/schema";
import { withQuery } from "../api/transport";
import { spanText } from "../model/format";
import { locksByFile, rangeText, type LockedFile } from "../model/locks";
import { ChangeButton } from "../widgets/change_button";
import { useSeen } from "../widgets/context";
import { DataTable } from "../widgets/data_table";
import { ChoiceField, TextField } from "../widgets/fields";
import { Loading, Part } from "../widgets/page_frame";

interface Filter {
  filesystem: string;
  vnfs: string;
  client: string;
  path: string;
}

const EVERY = { value: "", text: "(every one)" };

function clearOne(lock: Lock): LockChoice {
  return { filesystem: lock.filesystem, vnfs: lock.vnfs, client: lock.client, ino: lock.ino };
}

function Filters({ filter, onChange }: { filter: Filter; onChange(filter: Filter): void }) {
  const filesystems = useSeen<Filesystems>("/v1/filesystems").data?.filesystems ?? [];
  const vnfses = useSeen<VnfsList>("/v1/vnfs").data?.vnfs ?? [];
  const [draft, setDraft] = useState(filter);
  const set = (part: Partial<Filter>) => setDraft({ ...draft, ...part });
  const names = (list: readonly { name: string }[]) => [
    EVERY,
    ...list.map(({ name }) => ({ value: name, text: name })),
  ];
  return (
    <form
      className="sy-filters"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(draft);
      }}
    >
      <ChoiceField
        label="Filesystem"
        value={draft.filesystem}
        choices={names(filesystems)}
        onChange={(filesystem) => set({ filesystem, path: filesystem ? draft.path : "" })}
      />
      <ChoiceField
        label="VNFS"
        value={draft.vnfs}
        choices={names(vnfses)}
        onChange={(vnfs) => set({ vnfs })}
      />
      <TextField
        label="Client"
        value={draft.client}
        onChange={(client) => set({ client })}
        testId="lock-client"
      />
      <TextField
        label="File"
        value={draft.path}
        onChange={(path) => set({ path })}
        help={draft.filesystem ? "From the filesystem's root" : "Choose its filesystem first"}
        testId="lock-path"
      />
      <Button type="submit" variant="secondary" data-testid="lock-filter">
        Show
      </Button>
    </form>
  );
}

function Holders({ file }: { file: LockedFile }) {
  return (
    <DataTable<Lock>
      kind="lock"
      caption={`Locks of ${file.name}`}
      rows={file.locks}
      name={(one) => `${one.ino}-${one.client}-${one.owner}-${one.vnfs}`}
      text={(one) => `${one.client} ${one.address ?? ""} ${one.vnfs}`}
      columns={[
        { title: "Client", show: (one) => one.client },
        { title: "Address", show: (one) => one.address ?? "-" },
        { title: "Protocol", show: (one) => one.protocol },
        { title: "VNFS", show: (one) => one.vnfs },
        { title: "Ranges", show: (one) => one.ranges.map(rangeText).join(", ") },
        {
          title: "Age",
          show: (one) => (one.age_s === undefined ? "-" : spanText(one.age_s * 1000)),
        },
        {
          title: "Revocable",
          show: (one) => (one.revocable === "no" ? "no" : "if its client is away"),
        },
        {
          title: "",
          show: (one) => (
            <ChangeButton
              change={clearLocks(clearOne(one), `the locks of ${one.client} on ${file.name}`)}
              testId="clear-lock"
            >
              Clear
            </ChangeButton>
          ),
        },
      ]}
    />
  );
}

function Files({ files }: { files: readonly LockedFile[] }) {
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  // A few are shown at once.
  const few = files.length <= 5 && files.every((one) => one.locks.length <= 20);
  const isOpen = (one: LockedFile) => turned.has(one.name) !== few;
  const turn = (one: LockedFile) => {
    const next = new Set(turned);
    if (!next.delete(one.name)) next.add(one.name);
    setTurned(next);
  };
  return (
    <DataTable<LockedFile>
      kind="file"
      caption="Files with locks"
      rows={files}
      name={(one) => one.name}
      empty="Nobody holds a lock."
      details={(one) => isOpen(one) && <Holders file={one} />}
      columns={[
        { title: "File", show: (one) => one.name },
        { title: "Holders", show: (one) => one.locks.length },
        {
          title: "Clients",
          show: (one) => [...new Set(one.locks.map((lock) => lock.client))].slice(0, 4).join(", "),
        },
        {
          title: "",
          show: (one) => (
            <div className="sy-row">
              <Button
                variant="secondary"
                size="sm"
                aria-expanded={isOpen(one)}
                data-testid={`holders-${one.ino}`}
                onClick={() => turn(one)}
              >
                {isOpen(one) ? "Hide the holders" : "Who holds them"}
              </Button>
              <ChangeButton
                change={clearLocks(
                  { filesystem: one.filesystem, ino: one.ino },
                  `all locks on ${one.name}`,
                )}
                testId={`clear-file-${one.ino}`}
              >
                Clear all
              </ChangeButton>
            </div>
          ),
        },
      ]}
    />
  );
}

// All locks that the filters let through, as those of a client that will not come back.
function ClearShown({ filter, count }: { filter: Filter; count: number }) {
  const filtered = Object.values(filter).some((word) => word !== "");
  const off = count === 0 ? "there is none" : "say first whose, by the filters";
  return (
    <div>
      <ChangeButton
        change={clearLocks(filter, "all locks that are shown")}
        testId="clear-shown"
        off={filtered && count > 0 ? "" : off}
      >
        Clear all that are shown
      </ChangeButton>
    </div>
  );
}

function Clients() {
  const list = useSeen<VnfsList>("/v1/vnfs").data?.vnfs ?? [];
  const rows = list.flatMap((vnfs) =>
    vnfs.clients.map((client) => ({ client, vnfs: vnfs.name, head: vnfs.owner })),
  );
  return (
    <DataTable
      kind="client"
      caption="Clients"
      rows={rows}
      name={(one) => `${one.client}-${one.vnfs}`}
      empty="No client is connected."
      columns={[
        { title: "Client", show: (one) => one.client },
        { title: "VNFS", show: (one) => one.vnfs },
        { title: "Served by", show: (one) => one.head || "nobody" },
      ]}
    />
  );
}

export function LocksPage() {
  const [filter, setFilter] = useState<Filter>({ filesystem: "", vnfs: "", client: "", path: "" });
  const path = withQuery("/v1/locks", { ...filter });
  const seen = useSeen<Locks>(path, 5000);
  const files = useMemo(() => locksByFile(seen.data?.locks ?? []), [seen.data]);
  return (
    <>
      <Part title="Clients">
        <Clients />
      </Part>
      <Part title="Locks">
        <Filters filter={filter} onChange={setFilter} />
        {!seen.data && <Loading path={path} />}
        {seen.data && seen.error && (
          <Alert component="p" variant="warning" isInline title={seen.error.message} />
        )}
        {seen.data?.more && (
          <Alert
            component="p"
            variant="info"
            isInline
            title="There are more than are shown: say which by the filters"
          />
        )}
        {seen.data && (
          <p className="sy-subtle" data-testid="lock-count">
            {`${seen.data.locks.length} records of ${files.length} files`}
          </p>
        )}
        {seen.data && <ClearShown filter={filter} count={seen.data.locks.length} />}
        {seen.data && <Files files={files} />}
      </Part>
    </>
  );
}

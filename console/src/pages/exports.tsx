// Exports: edited with a preview of what differs, and rolled back to what they were.
import { useState } from "react";
import {
  attachExport,
  createExport,
  editExport,
  removeExport,
  takeOffExport,
} from "../api/commands_storage";
import type { ExportRecord, Exports, Filesystems, VnfsList } from "../api/schema";
import { wordsOf } from "../model/format";
import {
  differences,
  editOf,
  formOf,
  ownRules,
  ruleText,
  type Difference,
  type ExportForm,
} from "../model/export_edit";
import { ChangeButton, GuardedButton } from "../widgets/change_button";
import { usePage, useObserved, useSeen } from "../widgets/context";
import { DataTable } from "../widgets/data_table";
import { ChoiceField, LinesField, TextField } from "../widgets/fields";
import { FormDialog } from "../widgets/form_dialog";
import { Loading, Part } from "../widgets/page_frame";

const TITLES: Record<keyof ExportForm, string> = {
  clients: "Clients",
  rules: "Rules of single clients",
  access: "Access",
  squash: "Squash",
  anon: "Anonymous user",
  pseudo: "Path that clients mount",
  manage_gids: "Groups are looked up here",
  sec: "Security flavors",
};

function Preview({ changed }: { changed: readonly Difference[] }) {
  if (changed.length === 0)
    return <p data-testid="preview">Nothing differs from what is served.</p>;
  return (
    <table className="pf-v6-c-table pf-m-compact" aria-label="What differs" data-testid="preview">
      <thead>
        <tr className="pf-v6-c-table__tr">
          <th className="pf-v6-c-table__th" scope="col">
            What
          </th>
          <th className="pf-v6-c-table__th" scope="col">
            Now
          </th>
          <th className="pf-v6-c-table__th" scope="col">
            Then
          </th>
        </tr>
      </thead>
      <tbody className="pf-v6-c-table__tbody">
        {changed.map((one) => (
          <tr className="pf-v6-c-table__tr" key={one.member}>
            <th className="pf-v6-c-table__th" scope="row">
              {TITLES[one.member]}
            </th>
            <td className="pf-v6-c-table__td">
              <del>{one.before || "(none)"}</del>
            </td>
            <td className="pf-v6-c-table__td">
              <ins>{one.after || "(none)"}</ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ExportFieldsProps {
  form: ExportForm;
  onChange(form: ExportForm): void;
}

function ExportFields({ form, onChange }: ExportFieldsProps) {
  const set = (part: Partial<ExportForm>) => onChange({ ...form, ...part });
  return (
    <>
      <LinesField
        label={TITLES.clients}
        value={form.clients.join("\n")}
        onChange={(text) => set({ clients: text.split("\n") })}
        testId="export-clients"
        help="Networks or hosts, one a line, or *"
      />
      <LinesField
        label={TITLES.rules}
        value={form.rules.join("\n")}
        onChange={(text) => set({ rules: text.split("\n") })}
        testId="export-rules"
        help="WHO:OPTIONS, one a line: 10.0.0.7:rw,no_root_squash or @friends:ro"
      />
      <ChoiceField
        label={TITLES.access}
        value={form.access}
        choices={["rw", "ro"]}
        onChange={(access) => set({ access })}
        testId="export-access"
      />
      <ChoiceField
        label={TITLES.squash}
        value={form.squash}
        choices={["root", "none", "all"]}
        onChange={(squash) => set({ squash })}
        testId="export-squash"
      />
      <TextField
        label={TITLES.anon}
        value={form.anon}
        onChange={(anon) => set({ anon })}
        help="UID:GID of squashed callers; empty: nobody, 65534:65534"
      />
      <TextField
        label={TITLES.pseudo}
        value={form.pseudo}
        onChange={(pseudo) => set({ pseudo })}
        help="If it is not / and the export's name"
      />
      <ChoiceField
        label={TITLES.manage_gids}
        value={form.manage_gids}
        choices={["off", "on"]}
        onChange={(manage_gids) => set({ manage_gids })}
      />
      <TextField
        label={TITLES.sec}
        value={form.sec.join(" ")}
        onChange={(sec) => set({ sec: sec.split(" ") })}
        testId="export-sec"
        help="Some of sys, krb5, krb5i, krb5p; Kerberos needs a keytab of each VNFS"
      />
    </>
  );
}

// As it is sent: lines that are empty mean nothing.
function cleaned(form: ExportForm): ExportForm {
  const lines = (list: string[]) => list.map((line) => line.trim()).filter((line) => line !== "");
  return {
    ...form,
    clients: form.clients.flatMap(wordsOf),
    rules: lines(form.rules),
    sec: form.sec.flatMap(wordsOf),
  };
}

function EditDialog({ record, onClose }: { record: ExportRecord; onClose(): void }) {
  const before = formOf(record);
  const [form, setForm] = useState(before);
  const after = cleaned(form);
  const changed = differences(before, after);
  const change = editExport(record.name, editOf(after, changed), editOf(before, changed));
  return (
    <FormDialog
      title={`Edit the export ${record.name}`}
      change={changed.length > 0 ? change : undefined}
      missing="Nothing differs yet."
      impact={<Preview changed={changed} />}
      wide
      onClose={onClose}
    >
      <Preview changed={changed} />
      <ExportFields form={form} onChange={setForm} />
    </FormDialog>
  );
}

const NEW: ExportForm = {
  clients: ["*"],
  rules: [],
  access: "rw",
  squash: "root",
  anon: "",
  pseudo: "",
  manage_gids: "off",
  sec: ["sys"],
};

function CreateDialog({ filesystems, onClose }: { filesystems: string[]; onClose(): void }) {
  const [name, setName] = useState("");
  const [filesystem, setFilesystem] = useState(filesystems[0] ?? "");
  const [path, setPath] = useState("/");
  const [form, setForm] = useState(NEW);
  const one = { name, filesystem, path, ...cleaned(form) };
  const { anon, pseudo, ...needed } = one;
  const given = { ...needed, ...(anon ? { anon } : {}), ...(pseudo ? { pseudo } : {}) };
  return (
    <FormDialog
      title="Make an export"
      change={name && filesystem ? createExport(given) : undefined}
      missing="Give a name and a filesystem."
      wide
      onClose={onClose}
    >
      <TextField label="Name" value={name} onChange={setName} testId="export-name" />
      <ChoiceField
        label="Filesystem"
        value={filesystem}
        choices={filesystems}
        onChange={setFilesystem}
      />
      <TextField label="Directory in it" value={path} onChange={setPath} />
      <ExportFields form={form} onChange={setForm} />
    </FormDialog>
  );
}

function ServeDialog({ record, onClose }: { record: ExportRecord; onClose(): void }) {
  const all = useSeen<VnfsList>("/v1/vnfs").data?.vnfs ?? [];
  const others = all.map((one) => one.name).filter((name) => !record.vnfs.includes(name));
  const choices = [
    ...others.map((name) => ({ value: `+${name}`, text: `${name} serves it, too` })),
    ...record.vnfs.map((name) => ({ value: `-${name}`, text: `${name} serves it no more` })),
  ];
  const [chosen, setChosen] = useState("");
  const choice = chosen || choices[0]?.value || "";
  const vnfs = choice.slice(1);
  const change = choice.startsWith("+")
    ? attachExport(record.name, [vnfs])
    : takeOffExport(record.name, [vnfs]);
  return (
    <FormDialog
      title={`Who serves ${record.name}`}
      change={vnfs ? change : undefined}
      missing="There is no VNFS."
      onClose={onClose}
    >
      <ChoiceField label="VNFS" value={choice} choices={choices} onChange={setChosen} />
    </FormDialog>
  );
}

// The last accepted edit of the export that was made on this page, if it can be rolled back.
function useRollback(name: string) {
  const { editsOfExports } = usePage().console;
  return useObserved(editsOfExports).get(name);
}

type Open = { what: "edit" | "serve"; record: ExportRecord } | { what: "create" };

function Actions({ record, onOpen }: { record: ExportRecord; onOpen(open: Open): void }) {
  const rollback = useRollback(record.name);
  return (
    <div className="sy-row" data-testid={`actions-${record.name}`}>
      <GuardedButton
        needs="admin"
        testId="edit-export"
        onUse={() => onOpen({ what: "edit", record })}
      >
        Edit
      </GuardedButton>
      <GuardedButton
        needs="admin"
        testId="serve-export"
        onUse={() => onOpen({ what: "serve", record })}
      >
        VNFSs
      </GuardedButton>
      {rollback && (
        <ChangeButton change={rollback} testId="rollback">
          Roll back
        </ChangeButton>
      )}
      <ChangeButton change={removeExport(record.name)} testId="remove-export">
        Remove
      </ChangeButton>
    </div>
  );
}

// Which keys VNFSs have, never a key itself.
function Keytabs() {
  const all = useSeen<VnfsList>("/v1/vnfs").data?.vnfs ?? [];
  const rows = all.flatMap((one) =>
    one.keytab.map((key) => ({ ...key, vnfs: one.name, owners: one.owner_domain ?? "" })),
  );
  if (rows.length === 0) return null;
  return (
    <Part title="Kerberos keys of VNFSs">
      <DataTable
        kind="keytab"
        caption="Kerberos keys of VNFSs"
        rows={rows}
        name={(one) => `${one.vnfs} ${one.principal} ${one.kvno} ${one.enctype}`}
        empty=""
        columns={[
          { title: "VNFS", show: (one) => one.vnfs },
          { title: "Principal", show: (one) => one.principal },
          { title: "Version (kvno)", show: (one) => String(one.kvno) },
          { title: "Encryption", show: (one) => one.enctype },
          { title: "Domain of owners", show: (one) => one.owners },
        ]}
      />
    </Part>
  );
}

export function ExportsPage() {
  const exports = useSeen<Exports>("/v1/exports").data;
  const filesystems = useSeen<Filesystems>("/v1/filesystems").data?.filesystems ?? [];
  const [open, setOpen] = useState<Open>();
  if (!exports) return <Loading path="/v1/exports" />;
  const close = () => setOpen(undefined);
  return (
    <>
      <Part
        title="Exports"
        actions={
          <GuardedButton
            needs="admin"
            testId="create-export"
            onUse={() => setOpen({ what: "create" })}
          >
            Make an export
          </GuardedButton>
        }
      >
        <DataTable
          kind="export"
          caption="Exports"
          rows={exports.exports}
          name={(one) => one.name}
          empty="Nothing is exported yet."
          columns={[
            { title: "Export", show: (one) => one.name },
            { title: "Filesystem", show: (one) => `${one.filesystem}:${one.path}` },
            { title: "Clients", show: (one) => one.clients.join(", ") || "-" },
            {
              title: "Rules of single clients",
              show: (one) =>
                ownRules(one)
                  .map((rule) => ruleText(rule, one.sec))
                  .join("; ") || "-",
            },
            { title: "Access", show: (one) => `${one.access}, squash ${one.squash}` },
            { title: "Security", show: (one) => one.sec.join(", ") },
            { title: "Served by", show: (one) => one.vnfs.join(", ") || "nobody" },
            { title: "", show: (one) => <Actions record={one} onOpen={setOpen} /> },
          ]}
        />
      </Part>
      <Keytabs />
      {open?.what === "edit" && <EditDialog record={open.record} onClose={close} />}
      {open?.what === "serve" && <ServeDialog record={open.record} onClose={close} />}
      {open?.what === "create" && (
        <CreateDialog filesystems={filesystems.map((one) => one.name)} onClose={close} />
      )}
    </>
  );
}

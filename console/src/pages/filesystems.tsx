// Filesystems: made, kept, checked; and the jobs of this head.
import { useState } from "react";
import {
  cancelJob,
  checkFilesystem,
  createFilesystem,
  removeFilesystem,
  setAtime,
} from "../api/commands_storage";
import type { Capacity, FilesystemRecord, Filesystems, Jobs, Volumes } from "../api/schema";
import { bytesText, timeText } from "../model/format";
import { ChangeButton, GuardedButton } from "../widgets/change_button";
import { useSeen } from "../widgets/context";
import { DataTable } from "../widgets/data_table";
import { ChoiceField, TextField } from "../widgets/fields";
import { FormDialog } from "../widgets/form_dialog";
import { JobLine } from "../widgets/job_line";
import { Loading, Part } from "../widgets/page_frame";

const MODES = [
  { value: "0755", text: "0755: root makes files at its top" },
  { value: "1777", text: "1777: everybody does, as in /tmp" },
  { value: "0700", text: "0700: root alone" },
];

function CreateDialog({ volumes, onClose }: { volumes: string[]; onClose(): void }) {
  const [name, setName] = useState("");
  const [volume, setVolume] = useState(volumes[0] ?? "");
  const [mode, setMode] = useState("0755");
  const [atime, setAtimeWord] = useState<"relatime" | "off">("relatime");
  return (
    <FormDialog
      title="Make a filesystem"
      change={name && volume ? createFilesystem({ name, volume, mode, atime }) : undefined}
      missing="Give a name and a volume without filesystem."
      onClose={onClose}
    >
      <TextField label="Name" value={name} onChange={setName} testId="filesystem-name" />
      <ChoiceField
        label="Volume"
        value={volume}
        choices={volumes}
        onChange={setVolume}
        help={
          volumes.length === 0 ? "Every volume has a filesystem: make one on the page Storage." : ""
        }
      />
      <ChoiceField
        label="Mode of its root directory"
        value={mode}
        choices={MODES}
        onChange={setMode}
      />
      <ChoiceField
        label="When a file was read (atime)"
        value={atime}
        choices={["relatime", "off"]}
        onChange={(word) => setAtimeWord(word === "off" ? "off" : "relatime")}
      />
    </FormDialog>
  );
}

function inUse(capacity: Capacity | undefined, name: string): string {
  const one = capacity?.filesystems.find((filesystem) => filesystem.name === name);
  if (!one) return "-";
  return `${bytesText(one.bytes_used)} of ${bytesText(one.bytes_total)}, ${one.files} files`;
}

function Actions({ one }: { one: FilesystemRecord }) {
  const other = one.atime === "off" ? "relatime" : "off";
  return (
    <div className="sy-row">
      <ChangeButton change={checkFilesystem(one.name)} testId={`check-${one.name}`}>
        Check
      </ChangeButton>
      <ChangeButton change={setAtime(one.name, other, one.atime)} testId={`atime-${one.name}`}>
        {`Set atime to ${other}`}
      </ChangeButton>
      <ChangeButton
        change={removeFilesystem(one.name)}
        testId={`remove-${one.name}`}
        off={one.exports.length > 0 ? `${one.exports.join(", ")} export it` : ""}
      >
        Remove
      </ChangeButton>
    </div>
  );
}

function JobsOfHead() {
  const jobs = useSeen<Jobs>("/v1/jobs", 2000).data?.jobs ?? [];
  return (
    <Part title="Jobs of this head">
      <DataTable
        kind="job"
        caption="Jobs"
        rows={[...jobs].reverse()}
        name={(one) => String(one.id)}
        empty="None is remembered."
        columns={[
          { title: "Job", show: (one) => <JobLine job={one} /> },
          { title: "Began", show: (one) => timeText(one.began_ns) },
          { title: "By", show: (one) => one.by },
          {
            title: "",
            show: (one) =>
              one.state === "running" && (
                <ChangeButton change={cancelJob(one.id)} off={one.kept_by}>
                  Cancel
                </ChangeButton>
              ),
          },
        ]}
      />
    </Part>
  );
}

export function FilesystemsPage() {
  const filesystems = useSeen<Filesystems>("/v1/filesystems").data;
  const volumes = useSeen<Volumes>("/v1/volumes").data?.volumes ?? [];
  const capacity = useSeen<Capacity>("/v1/capacity", 10_000).data;
  const [creating, setCreating] = useState(false);
  if (!filesystems) return <Loading path="/v1/filesystems" />;
  const free = volumes.filter((one) => one.filesystems.length === 0).map((one) => one.name);
  return (
    <>
      <Part
        title="Filesystems"
        actions={
          <GuardedButton needs="admin" testId="create-filesystem" onUse={() => setCreating(true)}>
            Make a filesystem
          </GuardedButton>
        }
      >
        <DataTable
          kind="filesystem"
          caption="Filesystems"
          rows={filesystems.filesystems}
          name={(one) => one.name}
          empty="There is no filesystem yet."
          columns={[
            { title: "Filesystem", show: (one) => one.name },
            { title: "Volume", show: (one) => one.volume },
            { title: "In use", show: (one) => inUse(capacity, one.name) },
            { title: "atime", show: (one) => one.atime },
            { title: "ACLs", show: (one) => one.acls },
            { title: "Exports", show: (one) => one.exports.join(", ") || "-" },
            { title: "", show: (one) => <Actions one={one} /> },
          ]}
        />
      </Part>
      <JobsOfHead />
      {creating && <CreateDialog volumes={free} onClose={() => setCreating(false)} />}
    </>
  );
}

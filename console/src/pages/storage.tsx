// LUNs and volumes: devices are scanned and imported, volumes made and grown.
import { Alert, Spinner } from "../patternfly";
import { useEffect, useRef, useState } from "react";
import {
  createVolume,
  growVolume,
  importLuns,
  releaseLun,
  removeVolume,
} from "../api/commands_storage";
import type {
  Device,
  Devices,
  LunRecord,
  Luns,
  Status,
  VolumeRecord,
  Volumes,
} from "../api/schema";
import { bytesText, wordsOf } from "../model/format";
import { ChangeButton, GuardedButton } from "../widgets/change_button";
import { CommandLine } from "../widgets/command_line";
import { usePage, useObserved, useSeen } from "../widgets/context";
import { DataTable } from "../widgets/data_table";
import { ChoiceField, LinesField, TextField } from "../widgets/fields";
import { FormDialog } from "../widgets/form_dialog";
import { Loading, Part } from "../widgets/page_frame";
import { StripeMap } from "../widgets/stripe_map";

const STRIPES = ["64K", "256K", "1M", "4M", "16M"];
const STRIPE_BYTES: Record<string, number> = {
  "64K": 65_536,
  "256K": 262_144,
  "1M": 1_048_576,
  "4M": 4_194_304,
  "16M": 16_777_216,
};
const FORCED = ["foreign", "damaged", "data", "forgotten"]; // states that an import has to force
const IMPORTABLE = ["free", ...FORCED];

function ImportDialog({ device, onClose }: { device: Device; onClose(): void }) {
  const [name, setName] = useState(device.import_as ?? "");
  const force = FORCED.includes(device.state) && device.state !== "forgotten";
  const lun = { name, path: device.path, ...(force ? { force } : {}) };
  return (
    <FormDialog
      title={`Import ${device.path}`}
      change={name ? importLuns([lun]) : undefined}
      missing="Give the LUN a name."
      onClose={onClose}
    >
      <p>{`${bytesText(device.size_bytes)}, ${device.state}: ${device.what || "nothing is on it"}`}</p>
      <TextField label="Name of the LUN" value={name} onChange={setName} testId="lun-name" />
    </FormDialog>
  );
}

function ScannedDevices({ devices }: { devices: readonly Device[] }) {
  const [chosen, setChosen] = useState<Device>();
  return (
    <>
      <DataTable
        kind="device"
        caption="Devices"
        rows={devices}
        name={(one) => one.path}
        empty="No device was found where this head looks for LUNs (lun_paths)."
        columns={[
          { title: "Device", show: (one) => one.path },
          { title: "Size", show: (one) => bytesText(one.size_bytes) },
          { title: "State", show: (one) => one.state },
          { title: "What is on it", show: (one) => one.what || one.lun || "-" },
          { title: "Heads that see it", show: (one) => one.heads?.join(", ") ?? "-" },
          {
            title: "",
            show: (one) => (
              <GuardedButton
                needs="admin"
                testId={`import-${one.path}`}
                off={IMPORTABLE.includes(one.state) ? "" : `it is ${one.state}`}
                onUse={() => setChosen(one)}
              >
                Import
              </GuardedButton>
            ),
          },
        ]}
      />
      {chosen && <ImportDialog device={chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}

// A scan opens devices for reading; it changes nothing, but only an admin may have it done.
function Scan() {
  const { console } = usePage();
  const [scan, setScan] = useState<{ busy: boolean; devices?: Device[]; error: string }>({
    busy: false,
    error: "",
  });
  const run = async () => {
    setScan({ busy: true, error: "" });
    try {
      const text = await console.transport.send("POST", "/v1/lun-scan", {});
      setScan({ busy: false, error: "", devices: (JSON.parse(text) as Devices).devices });
    } catch (error) {
      setScan({ busy: false, error: String((error as Error).message) });
    }
  };
  // What was imported or released since the scan is not as it was seen.
  const newest = useObserved(console.asked)[0];
  const changed = newest?.change.path.startsWith("/v1/luns") ? newest.id : 0;
  const scanned = useRef(changed);
  useEffect(() => {
    if (changed === scanned.current) return;
    scanned.current = changed;
    if (scan.devices) void run();
  });
  return (
    <Part
      title="Devices of this head"
      actions={
        <GuardedButton needs="admin" testId="scan" onUse={() => void run()}>
          Scan
        </GuardedButton>
      }
    >
      <CommandLine command="symnas lun scan" />
      {scan.busy && <Spinner aria-label="Scanning" />}
      {scan.error !== "" && <Alert component="p" variant="danger" isInline title={scan.error} />}
      {scan.devices && <ScannedDevices devices={scan.devices} />}
    </Part>
  );
}

function LunTable({ luns }: { luns: readonly LunRecord[] }) {
  const sights = useSeen<Status>("/v1/status", 5000).data?.luns ?? [];
  const sight = (name: string) => sights.find((one) => one.name === name);
  return (
    <DataTable
      kind="lun"
      caption="LUNs"
      rows={luns}
      name={(one) => one.name}
      empty="No LUN is imported yet: scan, and import devices."
      columns={[
        { title: "LUN", show: (one) => one.name },
        { title: "Size", show: (one) => bytesText(one.size_bytes) },
        { title: "Block", show: (one) => one.logical_block_bytes },
        { title: "Volume", show: (one) => one.volume || "-" },
        {
          title: "On this head",
          show: (one) => sight(one.name)?.error || sight(one.name)?.path || "not seen",
        },
        {
          title: "",
          show: (one) => (
            <ChangeButton
              change={releaseLun(one.name, false)}
              testId={`release-${one.name}`}
              off={one.volume ? `the volume ${one.volume} uses it` : ""}
            >
              Release
            </ChangeButton>
          ),
        },
      ]}
    />
  );
}

function VolumeDialog({
  free,
  grown,
  onClose,
}: {
  free: string[];
  grown?: string;
  onClose(): void;
}) {
  const [name, setName] = useState("");
  const [luns, setLuns] = useState(free.join("\n"));
  const [stripe, setStripe] = useState("1M");
  const words = wordsOf(luns);
  const complete = words.length > 0 && (grown !== undefined || name !== "");
  const change = grown
    ? growVolume(grown, words)
    : createVolume({ name, luns: words, stripe_unit_bytes: STRIPE_BYTES[stripe] ?? 1_048_576 });
  return (
    <FormDialog
      title={grown ? `Grow ${grown}` : "Make a volume"}
      change={complete ? change : undefined}
      missing="Give a name and at least one free LUN."
      onClose={onClose}
    >
      {!grown && <TextField label="Name" value={name} onChange={setName} testId="volume-name" />}
      <LinesField
        label="LUNs, in stripe order"
        value={luns}
        onChange={setLuns}
        testId="volume-luns"
        help={free.length > 0 ? `Free: ${free.join(", ")}` : "No LUN is free."}
      />
      {!grown && (
        <ChoiceField label="Stripe unit" value={stripe} choices={STRIPES} onChange={setStripe} />
      )}
    </FormDialog>
  );
}

function VolumeTable({
  volumes,
  onGrow,
}: {
  volumes: readonly VolumeRecord[];
  onGrow(name: string): void;
}) {
  return (
    <DataTable
      kind="volume"
      caption="Volumes"
      rows={volumes}
      name={(one) => one.name}
      empty="No volume is made yet."
      details={(one) => <StripeMap volume={one} />}
      columns={[
        { title: "Volume", show: (one) => one.name },
        { title: "Size", show: (one) => bytesText(one.size_bytes) },
        { title: "Stripe unit", show: (one) => bytesText(one.stripe_unit_bytes) },
        { title: "Segments", show: (one) => one.segments },
        { title: "Filesystems", show: (one) => one.filesystems.join(", ") || "-" },
        {
          title: "",
          show: (one) => (
            <div className="sy-row">
              <GuardedButton
                needs="admin"
                testId={`grow-${one.name}`}
                onUse={() => onGrow(one.name)}
              >
                Grow
              </GuardedButton>
              <ChangeButton
                change={removeVolume(one.name)}
                off={one.filesystems.length > 0 ? "a filesystem is on it" : ""}
              >
                Remove
              </ChangeButton>
            </div>
          ),
        },
      ]}
    />
  );
}

export function StoragePage() {
  const luns = useSeen<Luns>("/v1/luns").data;
  const volumes = useSeen<Volumes>("/v1/volumes").data;
  const [form, setForm] = useState<{ grown?: string }>();
  if (!luns || !volumes) return <Loading path="/v1/luns" />;
  const free = luns.luns.filter((one) => one.volume === "").map((one) => one.name);
  return (
    <>
      <Part title="LUNs">
        <LunTable luns={luns.luns} />
      </Part>
      <Scan />
      <Part
        title="Volumes"
        actions={
          <GuardedButton needs="admin" testId="create-volume" onUse={() => setForm({})}>
            Make a volume
          </GuardedButton>
        }
      >
        <VolumeTable volumes={volumes.volumes} onGrow={(grown) => setForm({ grown })} />
      </Part>
      {form && <VolumeDialog free={free} grown={form.grown} onClose={() => setForm(undefined)} />}
    </>
  );
}

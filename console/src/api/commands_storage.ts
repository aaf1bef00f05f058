// Changes of LUNs, volumes, filesystems and exports: each as its request and its command.
import { apiPath, symnas, type Change } from "./change";
import type { Export, ExportEdit, LunToImport, Volume } from "./schema";
import { withQuery } from "./transport";

export function importLuns(luns: readonly LunToImport[]): Change {
  const forced = luns.filter((lun) => lun.force);
  return {
    title: `Import ${luns.map((lun) => lun.path).join(", ")}`,
    command: symnas(
      "lun",
      "import",
      ...luns.map((lun) => `${lun.name}=${lun.path}`),
      ...forced.flatMap((lun) => ["--force", lun.name]),
    ),
    method: "POST",
    path: "/v1/luns",
    body: { luns },
    role: "admin",
    danger:
      forced.length === 0
        ? undefined
        : `What ${forced.map((lun) => lun.path).join(", ")} holds is destroyed.`,
  };
}

export function releaseLun(name: string, forget: boolean): Change {
  return {
    title: forget ? `Forget the lost LUN ${name}` : `Release the LUN ${name}`,
    command: symnas("lun", "release", name, ...(forget ? ["--forget"] : [])),
    method: "DELETE",
    path: withQuery(apiPath`/v1/luns/${name}`, { forget: forget || undefined }),
    role: "admin",
    danger: forget ? "It can be imported again only with force." : "Its label is erased.",
  };
}

const UNITS: readonly [string, number][] = [
  ["T", 1 << 30],
  ["G", 1 << 20],
  ["M", 1 << 10],
  ["K", 1],
];

// As the command line takes it: "64K", "1M". bytes: a multiple of 1024.
export function sizeWord(bytes: number): string {
  const kib = bytes / 1024;
  const unit = UNITS.find(([, size]) => kib >= size && kib % size === 0);
  return unit ? `${kib / unit[1]}${unit[0]}` : String(bytes);
}

export function createVolume(volume: Volume): Change {
  return {
    title: `Make the volume ${volume.name} of ${volume.luns.join(", ")}`,
    command: symnas(
      ...["volume", "create", volume.name, "--luns", volume.luns.join(",")],
      ...["--stripe-unit", sizeWord(volume.stripe_unit_bytes)],
    ),
    method: "POST",
    path: "/v1/volumes",
    body: volume,
    role: "admin",
    undo: removeVolume(volume.name),
  };
}

export function growVolume(name: string, luns: readonly string[]): Change {
  return {
    title: `Grow the volume ${name} by ${luns.join(", ")}`,
    command: symnas("volume", "grow", name, "--luns", luns.join(",")),
    method: "POST",
    path: apiPath`/v1/volumes/${name}/grow`,
    body: { luns },
    role: "admin",
    danger: "A volume does not shrink again.",
  };
}

export function removeVolume(name: string): Change {
  return {
    title: `Remove the volume ${name}`,
    command: symnas("volume", "rm", name),
    method: "DELETE",
    path: apiPath`/v1/volumes/${name}`,
    role: "admin",
    danger: "Its LUNs are free again.",
  };
}

export interface NewFilesystem {
  name: string;
  volume: string;
  atime: "relatime" | "off";
  mode: string; // octal, of the root directory
}

export function createFilesystem(one: NewFilesystem): Change {
  return {
    title: `Make the filesystem ${one.name} on ${one.volume}`,
    command: symnas(
      ...["fs", "create", one.name, "--volume", one.volume],
      ...["--mode", one.mode, "--atime", one.atime],
    ),
    method: "POST",
    path: "/v1/filesystems",
    body: {
      name: one.name,
      volume: one.volume,
      atime: one.atime,
      root_mode: Number.parseInt(one.mode, 8),
      root_uid: 0,
      root_gid: 0,
    },
    role: "admin",
  };
}

export function setAtime(name: string, atime: string, before: string): Change {
  const one = (word: string): Change => ({
    title: `Set atime of ${name} to ${word}`,
    command: symnas("fs", "set", name, "--atime", word),
    method: "POST",
    path: apiPath`/v1/filesystems/${name}/set`,
    body: { atime: word },
    role: "admin",
  });
  return { ...one(atime), undo: one(before) };
}

export function removeFilesystem(name: string): Change {
  return {
    title: `Remove the filesystem ${name}`,
    command: symnas("fs", "rm", name),
    method: "DELETE",
    path: apiPath`/v1/filesystems/${name}`,
    role: "admin",
    danger: "Everything in it is gone.",
  };
}

// The options of `symnas export` for the members that are given.
function exportOptions(edit: ExportEdit): string[] {
  const words: string[] = [];
  const option = (name: string, value: string | undefined) => {
    if (value !== undefined) words.push(name, value);
  };
  option("--clients", edit.clients?.join(","));
  if (edit.rules?.length === 0) words.push("--client", "");
  for (const rule of edit.rules ?? []) words.push("--client", rule);
  option("--access", edit.access);
  option("--squash", edit.squash);
  option("--anon", edit.anon);
  option("--pseudo", edit.pseudo);
  option("--manage-gids", edit.manage_gids);
  return words;
}

export function createExport(one: Export): Change {
  const { name, filesystem, path, ...edit } = one;
  const given: ExportEdit = { ...edit, rules: edit.rules?.length ? edit.rules : undefined };
  return {
    title: `Export ${path ?? "/"} of ${filesystem} as ${name}`,
    command: symnas(
      ...["export", "create", name, "--fs", filesystem, "--path", path ?? "/"],
      ...exportOptions(given),
    ),
    method: "POST",
    path: "/v1/exports",
    body: one,
    role: "admin",
    undo: removeExport(name),
  };
}

// edit: only what is to change. before: the same members as they are now.
export function editExport(name: string, edit: ExportEdit, before?: ExportEdit): Change {
  return {
    title: `Change the export ${name}`,
    command: symnas("export", "set", name, ...exportOptions(edit)),
    method: "POST",
    path: apiPath`/v1/exports/${name}/set`,
    body: edit,
    role: "admin",
    undo: before && { ...editExport(name, before), title: `Roll the export ${name} back` },
  };
}

export function attachExport(name: string, vnfses: readonly string[]): Change {
  return {
    title: `Have ${vnfses.join(", ")} serve ${name}`,
    command: symnas("export", "add", name, "--vnfs", vnfses.join(",")),
    method: "POST",
    path: apiPath`/v1/exports/${name}/add`,
    body: { vnfs: vnfses },
    role: "admin",
    undo: takeOffExport(name, vnfses),
  };
}

export function takeOffExport(name: string, vnfses: readonly string[]): Change {
  return {
    title: `Take ${name} off ${vnfses.join(", ")}`,
    command: symnas("export", "rm", name, "--vnfs", vnfses.join(",")),
    method: "POST",
    path: apiPath`/v1/exports/${name}/take-off`,
    body: { vnfs: vnfses },
    role: "admin",
    danger: "Clients that use it there get errors.",
  };
}

export function removeExport(name: string): Change {
  return {
    title: `Remove the export ${name}`,
    command: symnas("export", "rm", name),
    method: "DELETE",
    path: apiPath`/v1/exports/${name}`,
    role: "admin",
    danger: "Nobody can mount it any more. One that clients use is refused.",
  };
}

// Changes nothing, takes minutes.
export function checkFilesystem(name: string): Change {
  return {
    title: `Check the filesystem ${name}`,
    command: symnas("fs", "check", name),
    method: "POST",
    path: apiPath`/v1/filesystems/${name}/check`,
    role: "operator",
    dryRun: false,
    job: true,
  };
}

export function cancelJob(id: number): Change {
  return {
    title: `Cancel job ${id}`,
    command: symnas("job", "cancel", String(id)),
    method: "POST",
    path: apiPath`/v1/jobs/${id}/cancel`,
    role: "operator",
    dryRun: false,
  };
}

// Changes of VNFSs, heads, locks and jobs: each as its request and its command.
// Storage and exports: commands_storage.ts.
import { apiPath, symnas, type Change } from "./change";
import { withQuery } from "./transport";

// `from`: the head that has it now, "" if nobody has; then there is nothing to go back to.
export function rehost(vnfs: string, head: string, from = ""): Change {
  return {
    title: `Move ${vnfs} to ${head}`,
    command: symnas("vnfs", "rehost", vnfs, head),
    method: "POST",
    path: apiPath`/v1/vnfs/${vnfs}/rehost`,
    body: { head },
    role: "operator",
    moves: vnfs,
    undo: from === "" || from === head ? undefined : rehost(vnfs, from),
  };
}

// heads: the primary first. before: as they are now.
export function orderHeads(
  vnfs: string,
  heads: readonly string[],
  before?: readonly string[],
): Change {
  return {
    title: `Set the heads of ${vnfs} to ${heads.join(", ")}`,
    command: symnas("vnfs", "set", vnfs, "--heads", heads.join(",")),
    method: "POST",
    path: apiPath`/v1/vnfs/${vnfs}/set`,
    body: { heads },
    role: "admin",
    undo: before && orderHeads(vnfs, before),
  };
}

export function setFailback(vnfs: string, failback: "auto" | "manual"): Change {
  const other = failback === "auto" ? "manual" : "auto";
  const one = (word: string): Change => ({
    title: `Set failback of ${vnfs} to ${word}`,
    command: symnas("vnfs", "set", vnfs, "--failback", word),
    method: "POST",
    path: apiPath`/v1/vnfs/${vnfs}/set`,
    body: { failback: word },
    role: "admin",
  });
  return { ...one(failback), undo: one(other) };
}

export function failback(vnfs: string, from = ""): Change {
  return {
    title: `Move ${vnfs} back to the first of its heads that can serve it`,
    command: symnas("vnfs", "failback", vnfs),
    method: "POST",
    path: apiPath`/v1/vnfs/${vnfs}/failback`,
    role: "operator",
    moves: vnfs,
    undo: from === "" ? undefined : rehost(vnfs, from),
  };
}

export function start(vnfs: string): Change {
  return {
    title: `Start ${vnfs}`,
    command: symnas("vnfs", "start", vnfs),
    method: "POST",
    path: apiPath`/v1/vnfs/${vnfs}/start`,
    role: "operator",
  };
}

export function stop(vnfs: string): Change {
  return {
    title: `Stop ${vnfs}`,
    command: symnas("vnfs", "stop", vnfs),
    method: "POST",
    path: apiPath`/v1/vnfs/${vnfs}/stop`,
    role: "operator",
    danger: "Its clients wait until it is started again; they keep their locks.",
    undo: start(vnfs),
  };
}

export function restart(vnfs: string): Change {
  return {
    title: `Restart ${vnfs} on its head`,
    command: symnas("vnfs", "restart", vnfs),
    method: "POST",
    path: apiPath`/v1/vnfs/${vnfs}/restart`,
    body: {},
    role: "operator",
    moves: vnfs,
  };
}

// The command measures what clients notice, too.
export function kill(vnfs: string): Change {
  return {
    title: `Kill the instance of ${vnfs}`,
    command: symnas("drill", "kill", vnfs, "--yes"),
    method: "POST",
    path: apiPath`/v1/vnfs/${vnfs}/kill`,
    role: "admin",
    danger: "As by a crash: its clients wait until another instance serves, and keep their locks.",
    moves: vnfs,
  };
}

export function undrain(head: string): Change {
  return {
    title: `Let ${head} take VNFSs again`,
    command: symnas("head", "undrain", head),
    method: "POST",
    path: apiPath`/v1/heads/${head}/undrain`,
    role: "operator",
  };
}

export function drain(head: string): Change {
  return {
    title: `Drain ${head}: its VNFSs move to other heads`,
    command: symnas("head", "drain", head, "--wait"),
    method: "POST",
    path: apiPath`/v1/heads/${head}/drain`,
    role: "operator",
    job: true,
    undo: undrain(head),
  };
}

export function fence(head: string): Change {
  return {
    title: `Fence ${head}`,
    command: symnas("head", "fence", head, "--yes"),
    method: "POST",
    path: apiPath`/v1/heads/${head}/fence`,
    role: "admin",
    job: true,
    danger: `${head} loses its power or its LUNs at once; it serves nothing before its next boot.`,
  };
}

export interface LockChoice {
  filesystem?: string;
  vnfs?: string;
  client?: string;
  path?: string; // with its filesystem
  ino?: number;
}

export function clearLocks(choice: LockChoice, what: string): Change {
  const words = ["lock", "clear"];
  if (choice.filesystem) words.push("--fs", choice.filesystem);
  if (choice.vnfs) words.push("--vnfs", choice.vnfs);
  if (choice.client) words.push("--client", choice.client);
  if (choice.path) words.push("--path", choice.path);
  if (choice.ino) words.push("--ino", String(choice.ino));
  return {
    title: `Clear ${what}`,
    command: symnas(...words, "--yes"),
    method: "DELETE",
    path: withQuery("/v1/locks", { ...choice }),
    role: "admin",
    danger:
      "Whoever holds them is not told, and goes on as if it held them: be sure that it is gone.",
  };
}

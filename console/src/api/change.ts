// A change that the page can ask for: the request, and the command that does the same.
import type { Method } from "./transport";

export type Role = "viewer" | "operator" | "admin";

export interface Change {
  title: string; // what is done, for a person: "Move vnfs1 to c1n2"
  command: string; // the equivalent, to be pasted into a shell of a head
  method: Method;
  path: string; // with its query
  body?: unknown;
  role: Role; // the least that may
  danger?: string; // what is lost by it: asked for with a second click
  dryRun?: boolean; // false: it cannot be tried before
  job?: boolean; // goes on by itself: is asked for with ?async=true
  moves?: string; // the VNFS that it moves: followed until it is served
  undo?: Change;
}

const PLAIN = /^[A-Za-z0-9_@%+=:,.\/-]+$/;

// A word of a shell command that means just `text`.
export function quoted(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

// `symnas` with words, each quoted if it has to be.
export function symnas(...words: string[]): string {
  return ["symnas", ...words.map(quoted)].join(" ");
}

// A path with names in it, each as one part.
export function apiPath(parts: TemplateStringsArray, ...names: (string | number)[]): string {
  return parts.reduce(
    (path, part, at) => path + encodeURIComponent(String(names[at - 1] ?? "")) + part,
  );
}

export function dryRunPath(change: Change): string {
  return `${change.path}${change.path.includes("?") ? "&" : "?"}dry_run=true`;
}

export function sendPath(change: Change): string {
  if (!change.job) return change.path;
  return `${change.path}${change.path.includes("?") ? "&" : "?"}async=true`;
}

const ORDER: readonly Role[] = ["viewer", "operator", "admin"];

// Why somebody with `role` may not ask for it; "" if he may. role: undefined as long as nobody knows.
export function whyOff(role: Role | undefined, needed: Role): string {
  if (role === undefined) return "not known yet what you may do here";
  if (ORDER.indexOf(role) >= ORDER.indexOf(needed)) return "";
  return `this needs the role ${needed}, and you are a ${role}: turn on administrative access (top of Cockpit's page)`;
}

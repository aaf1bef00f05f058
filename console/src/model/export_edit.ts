// Edits of an export: from its record to what a form shows, and to what is to be changed.
import type { ExportEdit, ExportRecord, ExportRule } from "../api/schema";

export interface ExportForm {
  clients: string[];
  rules: string[]; // as `--client` takes them
  access: string;
  squash: string;
  anon: string;
  pseudo: string;
  manage_gids: string;
  sec: string[]; // in no order
}

const SQUASH: Record<ExportRule["squash"], string> = {
  none: "no_root_squash",
  root: "root_squash",
  all: "all_squash",
};

const sameFlavors = (one: readonly string[], other: readonly string[]) =>
  [...one].sort().join() === [...other].sort().join();

// common: the flavors of the export, which a rule without its own ones has.
export function ruleText(rule: ExportRule, common: readonly string[]): string {
  const [uid, gid] = rule.anon.split(":");
  const anon = uid && gid ? [`anonuid=${uid}`, `anongid=${gid}`] : [];
  const sec = sameFlavors(rule.sec, common) ? [] : [`sec=${rule.sec.join(":")}`];
  return `${rule.who}:${[rule.access, SQUASH[rule.squash], ...anon, ...sec].join(",")}`;
}

// One address, as vnfsd writes networks and as people write hosts.
function hostOf(who: string): string {
  return who.replace(/\/(32|128)$/, "");
}

// The rules that were given for single clients: the record has those of `clients`, too.
export function ownRules(record: ExportRecord): ExportRule[] {
  const common = new Set(record.clients.map(hostOf));
  return record.rules
    .filter((rule) => !common.has(hostOf(rule.who)))
    .map((rule) => ({ ...rule, who: hostOf(rule.who) }));
}

export function formOf(record: ExportRecord): ExportForm {
  return {
    clients: record.clients,
    rules: ownRules(record).map((rule) => ruleText(rule, record.sec)),
    access: record.access,
    squash: record.squash,
    anon: record.anon,
    pseudo: record.pseudo,
    manage_gids: record.manage_gids ? "on" : "off",
    sec: record.sec,
  };
}

export interface Difference {
  member: keyof ExportForm;
  before: string;
  after: string;
}

const text = (value: string | string[]) => (Array.isArray(value) ? value.join(" ") : value);

export function differences(before: ExportForm, after: ExportForm): Difference[] {
  return (Object.keys(before) as (keyof ExportForm)[])
    .map((member) => ({ member, before: text(before[member]), after: text(after[member]) }))
    .filter((one) => one.before !== one.after);
}

// The members of `form` that differ: what a request has to name.
export function editOf(form: ExportForm, changed: readonly Difference[]): ExportEdit {
  return Object.fromEntries(changed.map(({ member }) => [member, form[member]]));
}

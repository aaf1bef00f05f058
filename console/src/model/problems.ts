// What is wrong, in words, with what to do next: of GET /v1/status, as `symnas status` says it.
import type { Head, SeenInstance, Status } from "../api/schema";
import { bytesText, millisText, timeText } from "./format";

export interface Problem {
  key: string;
  serious: boolean; // somebody is needed now
  subject: string;
  text: string;
  next: string;
}

function ofHead(head: Head): Problem[] {
  const problems: Problem[] = [];
  const add = (serious: boolean, text: string, next: string) =>
    problems.push({
      key: `head ${head.name}: ${text}`,
      serious,
      subject: `head ${head.name}`,
      text,
      next,
    });
  if (head.draining) add(false, "is being drained", `symnas head undrain ${head.name}`);
  const fence = head.fence;
  if (fence?.state === "done") {
    add(false, `was fenced by ${fence.by}: ${fence.proof}`, "its next boot serves again");
  } else if (fence?.state === "failed") {
    const lost = "its mounts have not ended, and what they hold is blocked";
    add(
      true,
      `could not be fenced by ${fence.by}: ${fence.error}; ${lost}`,
      `symnas head fence ${head.name} --yes tries again`,
    );
  } else if (fence) {
    add(
      true,
      `is being fenced by ${fence.by}`,
      `if that lasts: symnas head fence ${head.name} --yes`,
    );
  }
  return problems;
}

function ofEtcd(status: Status): Problem[] {
  const problems: Problem[] = status.etcd
    .filter((one) => !one.reachable || one.error !== "" || one.no_space)
    .map((one) => ({
      key: `etcd ${one.endpoint}`,
      serious: one.no_space,
      subject: `etcd ${one.endpoint}`,
      text: one.no_space ? "is full" : one.error || "does not answer",
      next: one.no_space
        ? "delete files, or raise etcd.quota_bytes (docs/operations/etcd_quota.md)"
        : "systemctl status symnas-etcd on that head",
    }));
  if (
    status.etcd.length > 0 &&
    status.etcd.filter((one) => one.reachable).length * 2 <= status.etcd.length
  ) {
    problems.unshift({
      key: "quorum",
      serious: true,
      subject: "etcd",
      text: "has no quorum as far as this head sees: nothing can be changed or moved",
      next: "start the etcd members that are away",
    });
  }
  if (status.quota.level !== "free") {
    const percent = Math.floor(status.quota.in_use_permille / 10);
    const effect =
      status.quota.level === "reserve" ? "nothing new is created" : "only removals are done";
    problems.push({
      key: "quota",
      serious: true,
      subject: "etcd",
      text: `${percent} % of its quota of ${bytesText(status.quota.quota_bytes)} are in use: ${effect}`,
      next: "delete files, or raise etcd.quota_bytes",
    });
  }
  return problems;
}

function ofInstance(vnfs: string, instance: SeenInstance | undefined): Problem[] {
  if (!instance?.error) return [];
  const where = instance.head ? ` on head ${instance.head}` : "";
  return [
    {
      key: `vnfs ${vnfs}`,
      serious: true,
      subject: `vnfs ${vnfs}${where}`,
      text: instance.error,
      next: `symnas vnfs why ${vnfs} HEAD, and the journal of vnfsd there`,
    },
  ];
}

function ofThisHead(status: Status): Problem[] {
  const problems: Problem[] = [];
  const add = (serious: boolean, subject: string, text: string, next: string) => {
    if (text !== "") problems.push({ key: `${subject}: ${text}`, serious, subject, text, next });
  };
  const here = `head ${status.head}`;
  add(true, here, status.error ?? "", "start the etcd members that are away (symnas status)");
  add(
    true,
    "fencing",
    status.reservations?.error ?? "",
    "symnas lun scan; docs/operations/fencing.md, on reservations",
  );
  add(
    true,
    "fencing",
    status.fence_agent.error,
    "vnfsd.toml, section fence (docs/operations/fencing.md)",
  );
  if ((status.heads ?? []).length > 1) {
    const lost = status.failover.error;
    const text =
      lost &&
      `the VNFSs of a head that dies stay down, as far as ${status.head} is concerned: ${lost}`;
    add(
      true,
      "failover",
      text,
      "docs/operations/fencing.md says how heads are fenced by themselves",
    );
  }
  for (const lun of status.luns)
    add(true, `LUN ${lun.name} on ${here}`, lun.error, "symnas lun scan");
  for (const one of status.networks) {
    add(true, `network ${one.name} on ${here}`, one.error, `ip link show ${one.device}`);
  }
  return problems;
}

function ofOthers(status: Status): Problem[] {
  const fenced = new Set((status.heads ?? []).filter((one) => one.fence).map((one) => one.name));
  const unexplained = status.silent.filter((one) => !fenced.has(one.head));
  const silent = unexplained.map((one) => ({
    key: `silent ${one.head}`,
    serious: true,
    subject: `head ${one.head}`,
    text: `is not heard by ${status.head}: ${one.why}`,
    next: `look at ${one.head} and its network; symnas status there`,
  }));
  const clocks = status.clocks
    .filter((one) => one.off)
    .map((one) => ({
      key: `clock ${one.head}`,
      serious: false,
      subject: `head ${one.head}`,
      text: `its clock is ${millisText(Math.abs(one.ahead_ms))} ${one.ahead_ms > 0 ? "ahead of" : "behind"} the others'`,
      next: "mend its time synchronisation",
    }));
  const certificates = status.certificates.map((one) => ({
    key: `certificate ${one.path}`,
    serious: false,
    subject: one.what,
    text: `ends ${timeText(one.ends_ns)}`,
    next: `make it anew: ${one.path}`,
  }));
  const stalls = status.stalls.map((one) => ({
    key: `stall ${one.filesystem} ${one.vnfs}`,
    serious: true,
    subject: `filesystem ${one.filesystem}`,
    text: `VNFS ${one.vnfs} on ${one.head} ${
      one.silent_ms > 0
        ? `is silent for ${millisText(one.silent_ms)}`
        : `keeps others waiting for ${millisText(one.waited_ms)}`
    }`,
    next: one.next,
  }));
  return [...silent, ...stalls, ...clocks, ...certificates];
}

// States that need no word of their own here: they are well, wanted, or under way.
const QUIET = ["serving", "stopped", "stopping", "owned", "prepared", "starting", "fencing"];

export function problemsOf(status: Status): Problem[] {
  const vnfses = status.vnfs.flatMap((one) => {
    const told = ofInstance(one.name, one.instance);
    if (told.length > 0 || QUIET.includes(one.state) || one.state.startsWith("moving")) return told;
    return [
      {
        key: `vnfs ${one.name}`,
        serious: true,
        subject: `vnfs ${one.name}`,
        text: `is ${one.state}`,
        next: `symnas vnfs why ${one.name} HEAD; the page Matrix says it for each head`,
      },
    ];
  });
  const all = [
    ...ofEtcd(status),
    ...ofThisHead(status),
    ...vnfses,
    ...(status.heads ?? []).flatMap(ofHead),
    ...ofOthers(status),
  ];
  return [...all.filter((one) => one.serious), ...all.filter((one) => !one.serious)];
}

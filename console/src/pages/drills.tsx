// What is tried and ordered on purpose: heads drained, undrained, fenced; VNFSs moved back, restarted,
// stopped, started.
import {
  drain,
  failback,
  fence,
  kill,
  restart,
  setFailback,
  start,
  stop,
  undrain,
} from "../api/commands";
import type { Distribution, Head, Heads, Placement, VnfsList, VnfsRecord } from "../api/schema";
import { ChangeButton } from "../widgets/change_button";
import { CommandLine } from "../widgets/command_line";
import { useSeen } from "../widgets/context";
import { DataTable } from "../widgets/data_table";
import { MoveImpact } from "../widgets/move_impact";
import { Loading, Part } from "../widgets/page_frame";
import { StateLabel } from "../widgets/state_label";

function fenceText(head: Head): string {
  if (!head.fence) return "-";
  return `${head.fence.state} by ${head.fence.by}: ${head.fence.error || head.fence.proof || "under way"}`;
}

function HeadActions({ head, here }: { head: Head; here: string }) {
  return (
    <div className="sy-row">
      {head.draining ? (
        <ChangeButton change={undrain(head.name)} testId={`undrain-${head.name}`}>
          Undrain
        </ChangeButton>
      ) : (
        <ChangeButton change={drain(head.name)} testId={`drain-${head.name}`}>
          Drain
        </ChangeButton>
      )}
      <ChangeButton
        change={fence(head.name)}
        testId={`fence-${head.name}`}
        variant="danger"
        off={head.name === here ? "a head does not fence itself: ask another one" : ""}
      >
        Fence
      </ChangeButton>
    </div>
  );
}

function HeadTable() {
  const heads = useSeen<Heads>("/v1/heads", 2000).data;
  const here = useSeen<{ head: string }>("/v1/status", 5000).data?.head ?? "";
  if (!heads) return <Loading path="/v1/heads" />;
  return (
    <DataTable<Head>
      kind="drill-head"
      caption="Heads"
      rows={heads.heads}
      name={(one) => one.name}
      columns={[
        { title: "Head", show: (one) => one.name },
        { title: "State", show: (one) => <StateLabel state={one.state} /> },
        { title: "Fence", show: fenceText },
        { title: "", show: (one) => <HeadActions head={one} here={here} /> },
      ]}
    />
  );
}

function VnfsActions({ vnfs }: { vnfs: VnfsRecord }) {
  const { name, owner, heads, wanted } = vnfs;
  const other = vnfs.failback === "auto" ? "manual" : "auto";
  return (
    <div className="sy-row">
      <ChangeButton
        change={failback(name, owner)}
        impact={<MoveImpact vnfs={name} head={heads[0] ?? ""} />}
        testId={`failback-${name}`}
        off={owner !== "" && owner === heads[0] ? "its primary has it" : ""}
      >
        Move back
      </ChangeButton>
      <ChangeButton change={restart(name)} testId={`restart-${name}`}>
        Restart
      </ChangeButton>
      <ChangeButton
        change={wanted === "stopped" ? start(name) : stop(name)}
        testId={`${wanted === "stopped" ? "start" : "stop"}-${name}`}
      >
        {wanted === "stopped" ? "Start" : "Stop"}
      </ChangeButton>
      <ChangeButton
        change={kill(name)}
        testId={`kill-${name}`}
        off={owner === "" ? "nobody has it" : ""}
      >
        Kill its instance
      </ChangeButton>
      <ChangeButton change={setFailback(name, other)} testId={`mode-${name}`}>
        {`Set failback to ${other}`}
      </ChangeButton>
    </div>
  );
}

function VnfsTable() {
  const list = useSeen<VnfsList>("/v1/vnfs", 2000).data;
  const placement = useSeen<Placement>("/v1/placement", 2000).data;
  if (!list) return <Loading path="/v1/vnfs" />;
  const state = (name: string) => placement?.vnfs.find((one) => one.name === name)?.state ?? "";
  return (
    <DataTable<VnfsRecord>
      kind="drill-vnfs"
      caption="VNFSs"
      rows={list.vnfs}
      name={(one) => one.name}
      empty="There is no VNFS yet."
      columns={[
        { title: "VNFS", show: (one) => one.name },
        { title: "State", show: (one) => <StateLabel state={state(one.name)} /> },
        { title: "Has it", show: (one) => one.owner || "nobody" },
        { title: "Primary", show: (one) => one.heads[0] ?? "-" },
        { title: "Failback", show: (one) => one.failback },
        { title: "", show: (one) => <VnfsActions vnfs={one} /> },
      ]}
    />
  );
}

function Distribute() {
  const moves = useSeen<Distribution>("/v1/distribution", 5000).data?.moves ?? [];
  return (
    <>
      <DataTable
        kind="proposed"
        caption="Moves that would spread the VNFSs evenly"
        rows={moves}
        name={(one) => one.vnfs}
        empty="Every VNFS is where it is best."
        columns={[
          { title: "VNFS", show: (one) => one.vnfs },
          { title: "From", show: (one) => one.from },
          { title: "To", show: (one) => one.to },
        ]}
      />
      <CommandLine command="symnas vnfs distribute" />
    </>
  );
}

export function DrillsPage() {
  return (
    <>
      <Part title="Heads">
        <HeadTable />
      </Part>
      <Part title="VNFSs">
        <VnfsTable />
      </Part>
      <Part title="Spread VNFSs over the heads">
        <Distribute />
      </Part>
      <Part title="Drills with a report">
        <p>
          A drill on a head&apos;s command line moves a VNFS there and back while it asks its VIPs,
          and measures what clients notice.
        </p>
        <CommandLine command="symnas drill --help" />
      </Part>
    </>
  );
}

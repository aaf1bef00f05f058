// Health at a glance: what is wrong and what to do, heads, quorum, fencing, load of the last hour.
import { Alert, Label } from "../patternfly";
import type { Head, Load, Members, Status } from "../api/schema";
import { bytesText, clockText, microsText, numberText, timeText } from "../model/format";
import { problemsOf, type Problem } from "../model/problems";
import { LineChart } from "../widgets/line_chart";
import { DataTable } from "../widgets/data_table";
import { usePage, useObserved, useSeen } from "../widgets/context";
import { Loading, Part } from "../widgets/page_frame";
import { StateLabel } from "../widgets/state_label";

function ProblemRow({ problem }: { problem: Problem }) {
  return (
    <Alert
      component="h3"
      isInline
      variant={problem.serious ? "danger" : "warning"}
      title={`${problem.subject}: ${problem.text}`}
      data-testid="problem"
    >
      {`What to do: ${problem.next}`}
    </Alert>
  );
}

function Problems({ status }: { status: Status }) {
  const problems = problemsOf(status);
  if (problems.length === 0) {
    return (
      <Alert
        component="h3"
        isInline
        variant="success"
        title="Nothing is wrong"
        data-testid="healthy"
      />
    );
  }
  return problems.map((problem) => <ProblemRow key={problem.key} problem={problem} />);
}

function Facts({ status }: { status: Status }) {
  const serving = status.vnfs.filter((one) => one.state === "serving").length;
  const reachable = status.etcd.filter((one) => one.reachable).length;
  const quorum = reachable * 2 > status.etcd.length;
  const alone = (status.heads ?? []).length < 2;
  const fencing =
    status.fence_agent.error || status.reservations?.error || (alone ? "" : status.failover.error);
  return (
    <dl className="sy-facts">
      <div>
        <dt>Cluster</dt>
        <dd>{`${status.cluster?.name ?? "-"}, seen from ${status.head}`}</dd>
      </div>
      <div>
        <dt>VNFSs</dt>
        <dd>{`${serving} of ${status.vnfs.length} serve`}</dd>
      </div>
      <div data-testid="quorum">
        <dt>Quorum</dt>
        <dd>
          <Label isCompact color={quorum ? "green" : "red"}>
            {quorum ? "there" : "lost"}
          </Label>
          {` ${reachable} of ${status.etcd.length} etcd members answer`}
        </dd>
      </div>
      <div data-testid="fencing">
        <dt>Fencing</dt>
        <dd>
          <Label isCompact color={fencing ? "red" : "green"}>
            {fencing ? "not ready" : "ready"}
          </Label>
          {fencing && ` ${fencing}`}
        </dd>
      </div>
      <div>
        <dt>Decider</dt>
        <dd>{status.cluster?.decider ?? "-"}</dd>
      </div>
      <div>
        <dt>etcd quota</dt>
        <dd>{`${(status.quota.in_use_permille / 10).toFixed(1)} % of ${bytesText(status.quota.quota_bytes)}`}</dd>
      </div>
    </dl>
  );
}

function Heads({ heads }: { heads: readonly Head[] }) {
  return (
    <DataTable<Head>
      kind="head"
      caption="Heads"
      rows={heads}
      name={(head) => head.name}
      columns={[
        { title: "Head", show: (head) => head.name },
        { title: "State", show: (head) => <StateLabel state={head.state} /> },
        { title: "Address", show: (head) => head.address },
        { title: "Version", show: (head) => head.version },
        { title: "Agent started", show: (head) => timeText(head.agent_started_ns) },
        { title: "LUNs", show: (head) => head.luns.length },
      ]}
    />
  );
}

function LastHour() {
  const samples = useObserved(usePage().console.samples);
  const first = samples[0];
  const last = samples.at(-1);
  const missing = useSeen<Load>("/v1/load").data?.missing ?? [];
  if (!first || !last) return <p>No sample yet.</p>;
  return (
    <>
      <p className="sy-subtle" data-testid="load-since">
        {`Sampled every 5 s since ${clockText(first.atMs)}, while this page is open; an hour is kept.`}
        {missing.length > 0 &&
          ` Not counted: ${missing.map((one) => `${one.vnfs} (${one.why})`).join("; ")}`}
      </p>
      <div className="sy-charts">
        <LineChart
          title="Operations"
          points={samples.map((one) => ({ x: one.atMs, y: one.requests }))}
          text={(value) => `${numberText(value)}/s`}
        />
        <LineChart
          title="Throughput"
          points={samples.map((one) => ({ x: one.atMs, y: one.readBytes + one.writtenBytes }))}
          text={(value) => `${bytesText(Math.round(value))}/s`}
        />
        <LineChart
          title="Mean time of an operation"
          points={samples.map((one) => ({ x: one.atMs, y: one.meanUs }))}
          text={microsText}
        />
      </div>
    </>
  );
}

export function OverviewPage() {
  const status = useSeen<Status>("/v1/status", 2000).data;
  const members = useSeen<Members>("/v1/members", 10_000).data;
  if (!status) return <Loading path="/v1/status" />;
  return (
    <>
      <Part title="Health">
        <Facts status={status} />
        <Problems status={status} />
      </Part>
      <Part title="Load of the last hour">
        <LastHour />
      </Part>
      <Part title="Heads">
        <Heads heads={status.heads ?? []} />
      </Part>
      <Part title="etcd members">
        <DataTable
          kind="member"
          caption="etcd members"
          rows={members?.members ?? []}
          name={(one) => one.name || one.id}
          columns={[
            { title: "Member", show: (one) => one.name || one.id },
            { title: "Role", show: (one) => one.role },
            { title: "For clients", show: (one) => one.client_url },
          ]}
        />
      </Part>
    </>
  );
}

// How each VNFS came to be served where: moves, failovers and restarts as time lines.
import { useState } from "react";
import { apiPath, symnas } from "../api/change";
import type { Arrival, Status, Transition, VnfsHistory, VnfsList } from "../api/schema";
import { millisText, timeText } from "../model/format";
import { CommandLine } from "../widgets/command_line";
import { useSeen } from "../widgets/context";
import { DataTable } from "../widgets/data_table";
import { ChoiceField } from "../widgets/fields";
import { Loading, Part } from "../widgets/page_frame";
import { TimelineBar, TimelineSteps } from "../widgets/timeline";

function Entry({ transition }: { transition: Transition }) {
  return (
    <>
      <TimelineBar transition={transition} />
      <details>
        <summary className="sy-summary">Steps</summary>
        <TimelineSteps transition={transition} />
      </details>
    </>
  );
}

function pause(one: { blackout_ms?: number }): string {
  return one.blackout_ms === undefined ? "-" : millisText(one.blackout_ms);
}

function History({ vnfs }: { vnfs: string }) {
  const path = apiPath`/v1/vnfs/${vnfs}/history`;
  const seen = useSeen<VnfsHistory>(path, 5000);
  if (!seen.data) return <Loading path={path} />;
  const rows = [...seen.data.history].sort((a, b) => b.began_ns - a.began_ns);
  return (
    <DataTable<Transition>
      kind="history"
      caption={`History of ${vnfs}`}
      rows={rows}
      name={(one) => String(one.epoch)}
      empty="Nothing is remembered of it."
      details={(one) => one.steps.length > 0 && <Entry transition={one} />}
      columns={[
        { title: "When", show: (one) => timeText(one.began_ns) },
        { title: "Cause", show: (one) => one.cause },
        { title: "From", show: (one) => one.from || "-" },
        { title: "To", show: (one) => one.to },
        { title: "Epoch", show: (one) => one.epoch },
        { title: "No answer for", show: pause },
      ]}
    />
  );
}

function Arrivals({ status }: { status: Status }) {
  return (
    <DataTable<Arrival>
      kind="arrival"
      caption="Arrivals on this head"
      rows={status.arrivals}
      name={(one) => `${one.vnfs}-${one.cause}`}
      empty="Nothing has come to this head since vnfsd began."
      columns={[
        { title: "VNFS", show: (one) => one.vnfs },
        { title: "Cause", show: (one) => one.cause },
        { title: "How often", show: (one) => one.count },
        { title: "No answer for, together", show: pause },
      ]}
    />
  );
}

export function HistoryPage() {
  const list = useSeen<VnfsList>("/v1/vnfs").data;
  const status = useSeen<Status>("/v1/status").data;
  const [chosen, setChosen] = useState("");
  if (!list) return <Loading path="/v1/vnfs" />;
  const names = list.vnfs.map((one) => one.name);
  const vnfs = names.includes(chosen) ? chosen : (names[0] ?? "");
  return (
    <>
      <Part title="Moves, failovers, restarts">
        <ChoiceField
          label="VNFS"
          value={vnfs}
          choices={names}
          onChange={setChosen}
          testId="history-vnfs"
        />
        <p className="sy-subtle">
          Each line is one change of place, from its first step to a little after it served; the red
          part is when clients got no answer.
        </p>
        {vnfs !== "" && <History vnfs={vnfs} />}
        {vnfs !== "" && <CommandLine command={symnas("vnfs", "history", vnfs, "--steps")} />}
      </Part>
      {status && (
        <Part title={`What came to ${status.head}`}>
          <Arrivals status={status} />
        </Part>
      )}
    </>
  );
}

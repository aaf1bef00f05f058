// Who asks how much, live: by client, export, operation and so on.
import { useState } from "react";
import type { Load } from "../api/schema";
import { bytesText, microsText, numberText } from "../model/format";
import { groupsOf, sumOf, type By, type Group } from "../model/load";
import { CommandLine } from "../widgets/command_line";
import { useSeen } from "../widgets/context";
import { DataTable } from "../widgets/data_table";
import { ChoiceField } from "../widgets/fields";
import { Loading, Part } from "../widgets/page_frame";

const BY: readonly { value: By; text: string }[] = [
  { value: "client", text: "Client" },
  { value: "export", text: "Export" },
  { value: "operation", text: "Operation" },
  { value: "vnfs", text: "VNFS" },
  { value: "head", text: "Head" },
  { value: "protocol", text: "Protocol" },
];

const COMMAND_BY: readonly By[] = ["client", "export", "operation", "vnfs"];

function Share({ share }: { share: number }) {
  const percent = Math.round(share * 100);
  return (
    <span className="sy-share">
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect className="sy-timeline-bar" width={100} height={10} />
        <rect className="sy-share-part" width={percent} height={10} />
      </svg>
      {`${percent} %`}
    </span>
  );
}

export function LoadPage() {
  const load = useSeen<Load>("/v1/load", 1000).data;
  const [by, setBy] = useState<By>("client");
  if (!load) return <Loading path="/v1/load" />;
  const all = sumOf(load.rows);
  return (
    <Part title="Who asks how much">
      <ChoiceField
        label="By"
        value={by}
        choices={BY}
        onChange={(word) => setBy(BY.find((one) => one.value === word)?.value ?? "client")}
        testId="load-by"
      />
      <p data-testid="load-sum">
        {`Together ${numberText(all.requests)} operations/s, ${bytesText(Math.round(all.readBytes))}/s read, ` +
          `${bytesText(Math.round(all.writtenBytes))}/s written, ${microsText(all.meanUs)} each.`}
      </p>
      <DataTable<Group>
        kind="load"
        caption="Load of the last seconds"
        rows={groupsOf(load.rows, by)}
        name={(one) => one.name}
        empty="Nobody asks anything."
        columns={[
          { title: BY.find((one) => one.value === by)?.text ?? "", show: (one) => one.name },
          { title: "Share", show: (one) => <Share share={one.share} /> },
          { title: "Operations/s", show: (one) => numberText(one.requests) },
          { title: "Read/s", show: (one) => bytesText(Math.round(one.readBytes)) },
          { title: "Written/s", show: (one) => bytesText(Math.round(one.writtenBytes)) },
          { title: "Mean", show: (one) => microsText(one.meanUs) },
          { title: "Worst", show: (one) => microsText(one.worstUs) },
          { title: "Errors/s", show: (one) => numberText(one.errors) },
        ]}
      />
      {load.missing.map((one) => (
        <p
          key={one.vnfs}
          className="sy-warning"
        >{`${one.vnfs} on ${one.head} is not counted: ${one.why}`}</p>
      ))}
      <CommandLine command={COMMAND_BY.includes(by) ? `symnas top --by ${by}` : "symnas top"} />
    </Part>
  );
}

// What has happened in the cluster, as it happens.
import { Alert } from "../patternfly";
import { useSyncExternalStore } from "react";
import type { Event } from "../api/schema";
import { timeText } from "../model/format";
import { CommandLine } from "../widgets/command_line";
import { usePage } from "../widgets/context";
import { DataTable } from "../widgets/data_table";
import { Part } from "../widgets/page_frame";
import { numbered } from "../model/events";

export function EventsPage() {
  const { feed } = usePage().console;
  const { events, live, error } = useSyncExternalStore(feed.subscribe, feed.get);
  return (
    <Part title="Events">
      <CommandLine command="symnas events --follow" />
      {error && error.status !== 0 && (
        <Alert
          component="p"
          variant="info"
          isInline
          title={`Events cannot be followed: ${error.message}`}
        />
      )}
      <p className="sy-subtle" data-testid="events-live">
        {live ? "The newest first; new ones come as they happen." : "Not followed now."}
      </p>
      <DataTable<Event & { key: string }>
        kind="event"
        caption="Events"
        rows={numbered(events)}
        name={(one) => one.key}
        text={(one) => `${one.kind} ${one.head} ${one.vnfs} ${one.by} ${one.text}`}
        empty="None is known."
        columns={[
          { title: "When", show: (one) => timeText(one.at_ns) },
          { title: "Kind", show: (one) => one.kind },
          { title: "Head", show: (one) => one.head },
          { title: "VNFS", show: (one) => one.vnfs || "-" },
          { title: "By", show: (one) => one.by || "-" },
          { title: "What", show: (one) => one.text },
        ]}
      />
    </Part>
  );
}

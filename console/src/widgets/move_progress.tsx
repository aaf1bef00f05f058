// A planned move, live: from the order to the history entry that it became. An order that its head does
// not answer is taken back after the time that `symnas vnfs rehost` waits.
import { Alert, Spinner } from "../patternfly";
import { useEffect, useRef, useState } from "react";
import { apiPath } from "../api/change";
import type { Transition, VnfsHistory, VnfsList } from "../api/schema";
import type { Asked } from "../console";
import { clockText, millisText } from "../model/format";
import { entryAfter, hasServed } from "../model/history";
import { usePage, useSeen } from "./context";
import { TimelineBar, TimelineSteps } from "./timeline";

const POLL_MS = 300;
const PATIENCE_MS = 15_000;
const ENDED_POLL_MS = 60_000;

type Phase = "ordered" | "answered" | "done" | "refused" | "taken back";

interface Progress {
  phase: Phase;
  text: string;
}

function useTakeBack(vnfs: string, due: boolean): string {
  const { console } = usePage();
  const [outcome, setOutcome] = useState("");
  useEffect(() => {
    if (!due) return;
    console
      .lines("POST", apiPath`/v1/vnfs/${vnfs}/stay`, undefined)
      .then(() => setOutcome("taken back: the VNFS stays where it is"))
      .catch((error: Error) => setOutcome(error.message));
  }, [console, vnfs, due]);
  return outcome;
}

function progressOf(list: VnfsList | undefined, vnfs: string, sinceMs: number): Progress {
  const record = list?.vnfs.find((one) => one.name === vnfs);
  if (!record) return { phase: "ordered", text: `ordered at ${clockText(sinceMs)}` };
  if (!record.move) return { phase: "done", text: `${record.owner || "nobody"} has it` };
  const { to, answered, refusal } = record.move;
  if (refusal !== "") return { phase: "refused", text: `${to} says: ${refusal}` };
  if (answered)
    return { phase: "answered", text: `${to} has a standby ready; ${record.owner} hands over` };
  return { phase: "ordered", text: `waiting for a standby on ${to}` };
}

// What is asked again as long as the move goes on.
interface Sight {
  progress: Progress;
  entry?: Transition;
}

function useSight(vnfs: string, asked: Asked, running: boolean): Sight {
  const interval = running ? POLL_MS : ENDED_POLL_MS;
  const list = useSeen<VnfsList>("/v1/vnfs", interval);
  const history = useSeen<VnfsHistory>(apiPath`/v1/vnfs/${vnfs}/history`, interval).data;
  const last = useRef<Sight>(undefined);
  if (running || !last.current) {
    const fresh = list.readAt > asked.atMs ? list.data : undefined;
    last.current = {
      progress: progressOf(fresh, vnfs, asked.atMs),
      entry: entryAfter(history?.history ?? [], asked.epoch),
    };
  }
  return last.current;
}

export function MoveProgress({ vnfs, asked }: { vnfs: string; asked: Asked }) {
  const [running, setRunning] = useState(true);
  const [now, setNow] = useState(Date.now());
  const { progress, entry } = useSight(vnfs, asked, running);
  const waiting = progress.phase === "ordered" || progress.phase === "refused";
  const late = now - asked.atMs > PATIENCE_MS;
  const takenBack = useTakeBack(vnfs, running && waiting && late);
  const ended = progress.phase === "done" && (late || (entry !== undefined && hasServed(entry)));
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => setNow(Date.now()), POLL_MS);
    return () => clearInterval(timer);
  }, [running]);
  useEffect(() => {
    if (ended || takenBack !== "") setRunning(false);
  }, [ended, takenBack]);
  return (
    <div data-testid="timeline" className="sy-stack" aria-live="polite">
      <p>
        {running && <Spinner size="sm" aria-label="Under way" />} {progress.text}
        {entry?.blackout_ms !== undefined && `; no answer for ${millisText(entry.blackout_ms)}`}
      </p>
      {takenBack !== "" && (
        <Alert component="p" variant="warning" isInline isPlain title={takenBack} />
      )}
      {entry && <TimelineBar transition={entry} />}
      {entry && <TimelineSteps transition={entry} />}
    </div>
  );
}

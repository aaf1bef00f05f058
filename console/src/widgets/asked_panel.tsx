// What was changed from this page: how it went, the time line of a move, and the way back.
import { Alert, AlertActionCloseButton } from "../patternfly";
import { useEffect, useState } from "react";
import { cancelJob } from "../api/commands_storage";
import type { Job } from "../api/schema";
import type { Asked } from "../console";
import { clockText } from "../model/format";
import { ChangeButton } from "./change_button";
import { usePage, useObserved } from "./context";
import { JobLine } from "./job_line";
import { MoveProgress } from "./move_progress";

const OUTCOMES: Record<Asked["outcome"], string> = {
  accepted: "accepted",
  refused: "refused",
  unknown: "no answer, so look whether it was done; asked",
};
const JOB_POLL_MS = 500;
function FollowedJob({ id }: { id: number }) {
  const { console } = usePage();
  const [job, setJob] = useState<Job>();
  const [error, setError] = useState("");
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let wanted = true;
    const look = () =>
      console
        .job(id)
        .then((seen) => {
          if (!wanted) return;
          setJob(seen);
          setError("");
          if (seen.state === "running") timer = setTimeout(look, JOB_POLL_MS);
        })
        .catch((failed: Error) => {
          if (!wanted) return;
          setError(failed.message);
          timer = setTimeout(look, JOB_POLL_MS * 4);
        });
    void look();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [console, id]);
  return (
    <>
      {error !== "" && <p>{error}</p>}
      {job && <JobLine job={job} />}
      {job?.state === "running" && (
        <ChangeButton change={cancelJob(id)} testId="cancel-job" off={job.kept_by}>
          Cancel the job
        </ChangeButton>
      )}
    </>
  );
}

// newest: with all that there is to tell; of earlier ones the way back is left.
function AskedLine({ asked, newest }: { asked: Asked; newest: boolean }) {
  const { console } = usePage();
  const failed = asked.error !== "";
  const vnfs = failed ? undefined : asked.change.moves;
  return (
    <Alert
      component="h2"
      isInline
      isPlain={!newest}
      variant={failed ? "danger" : "success"}
      title={`${asked.change.title}: ${OUTCOMES[asked.outcome]} at ${clockText(asked.atMs)}`}
      data-testid={failed ? "change-failed" : "change-done"}
      actionClose={<AlertActionCloseButton onClose={() => console.forget(asked.id)} />}
    >
      <div className="sy-stack">
        {failed && <p>{asked.error}</p>}
        {newest && asked.lines.map((line, at) => <p key={at}>{line}</p>)}
        {newest && vnfs && <MoveProgress vnfs={vnfs} asked={asked} />}
        {asked.jobId !== undefined && <FollowedJob id={asked.jobId} />}
        {!failed && asked.change.undo && (
          <div>
            <ChangeButton change={asked.change.undo} testId="undo">
              {`Undo: ${asked.change.undo.title}`}
            </ChangeButton>
          </div>
        )}
      </div>
    </Alert>
  );
}

export function AskedPanel() {
  const asked = useObserved(usePage().console.asked);
  if (asked.length === 0) return null;
  return (
    <section aria-label="What you have changed" className="sy-stack">
      {asked.map((one, at) => (
        <AskedLine key={one.id} asked={one} newest={at === 0} />
      ))}
    </section>
  );
}

// A job: how far it is, and how it ended.
import { Progress } from "../patternfly";
import type { CheckReport, Done, Job } from "../api/schema";

const VARIANTS: Partial<Record<Job["state"], "success" | "danger" | "warning">> = {
  done: "success",
  failed: "danger",
  cancelled: "warning",
  interrupted: "warning",
};

function Findings({ report }: { report: CheckReport }) {
  if (report.findings_total === 0) {
    return <p>{`Nothing is wrong: ${report.files} files, ${report.directories} directories.`}</p>;
  }
  return (
    <>
      <p>{`${report.findings_total} findings:`}</p>
      <ul className="sy-lines">
        {report.findings.slice(0, 100).map((one, at) => (
          <li
            key={at}
          >{`${one.path ?? ""} ${one.ino ? `(inode ${one.ino})` : ""}: ${one.text}`}</li>
        ))}
      </ul>
    </>
  );
}

export function JobLine({ job }: { job: Job }) {
  const running = job.state === "running";
  const report =
    job.kind === "checkFilesystem" ? (job.result as CheckReport | undefined) : undefined;
  const lines = (job.result as Partial<Done> | undefined)?.done ?? [];
  return (
    <div className="sy-stack" data-testid={`job-${job.id}`} data-state={job.state}>
      <Progress
        title={`Job ${job.id}: ${job.what}, ${job.state}`}
        value={Math.round((job.share ?? (running ? 0 : 1)) * 100)}
        measureLocation={job.share === undefined && running ? "none" : "top"}
        variant={VARIANTS[job.state]}
        size="sm"
      />
      {job.state !== "done" && job.text !== "" && <p>{job.text}</p>}
      {lines.map((line, at) => (
        <p key={at}>{line}</p>
      ))}
      {job.error && <p>{job.error.message}</p>}
      {report && <Findings report={report} />}
    </div>
  );
}

// Why a VNFS may or may not run on a head now, and what to do about it.
import type { ReactNode } from "react";
import { Alert, Button, Label, Modal, ModalBody, ModalFooter, ModalHeader } from "../patternfly";
import { apiPath, symnas } from "../api/change";
import type { Why } from "../api/schema";
import { CommandLine } from "./command_line";
import { useSeen } from "./context";

const WHO_POLL_MS = 5000;

const VERDICTS: Record<Why["verdict"], string> = {
  runs: "runs on",
  coming: "is on its way to",
  next: "is to go by itself to",
  may: "may go by an order to",
  may_not: "may not run on",
};

function Line({ term, text, next }: { term: string; text: string; next?: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        {text}
        {next && <span className="sy-subtle">{` What to do: ${next}`}</span>}
      </dd>
    </div>
  );
}

export function WhyText({ why }: { why: Why }) {
  return (
    <dl className="sy-why" data-testid="why">
      <Line term="Verdict" text={`${why.vnfs} ${VERDICTS[why.verdict]} ${why.head}`} />
      <Line term="Role" text={`${why.role}, standby: ${why.standby}`} />
      <Line
        term="Now"
        text={`${why.state}, ${why.owner || "nobody"} has it${why.why ? `: ${why.why}` : ""}`}
      />
      <Line term="Plan" text={why.planned.text} />
      {why.reasons.map((one, at) => (
        <Line
          key={at}
          term={one.orders === "own" ? "Not by itself" : "Against it"}
          text={one.why}
          next={one.next}
        />
      ))}
      {why.ways.map((one, at) => (
        <Line key={at} term="Way" text={one.what} next={one.next} />
      ))}
      {why.notes.map((one, at) => (
        <Line key={at} term="Note" text={one} />
      ))}
    </dl>
  );
}

const COLOURS: Record<Why["verdict"], "green" | "blue" | "grey" | "red"> = {
  runs: "green",
  coming: "blue",
  next: "blue",
  may: "grey",
  may_not: "red",
};

const WORDS: Record<Why["verdict"], string> = {
  runs: "runs here",
  coming: "on its way here",
  next: "next, by itself",
  may: "by an order",
  may_not: "may not",
};

function HeadVerdict({ vnfs, head }: { vnfs: string; head: string }) {
  const { data, error } = useSeen<Why>(apiPath`/v1/vnfs/${vnfs}/why/${head}`, WHO_POLL_MS);
  const reasons =
    data?.reasons.filter((one) => one.orders === "all" || data.verdict !== "may") ?? [];
  return (
    <div data-testid={`who-${head}`}>
      <dt>{head}</dt>
      <dd>
        {data && (
          <Label isCompact color={COLOURS[data.verdict]}>
            {WORDS[data.verdict]}
          </Label>
        )}
        {data && ` ${data.role}`}
        {!data && error?.message}
        {reasons.map((one, at) => (
          <p key={at}>
            {one.why}
            {one.next && <span className="sy-subtle">{` What to do: ${one.next}`}</span>}
          </p>
        ))}
      </dd>
    </div>
  );
}

interface WhoDialogProps {
  vnfs: string;
  heads: readonly { name: string }[];
  onClose(): void;
}

// Of a VNFS: each head, whether it may take it, and why not.
export function WhoDialog({ vnfs, heads, onClose }: WhoDialogProps) {
  return (
    <AnswerDialog title={`Who may take ${vnfs}`} testId="dialog-who" onClose={onClose}>
      <dl className="sy-why">
        {heads.map(({ name }) => (
          <HeadVerdict key={name} vnfs={vnfs} head={name} />
        ))}
      </dl>
      <CommandLine command={symnas("vnfs", "why", vnfs, "HEAD")} />
    </AnswerDialog>
  );
}

export function WhyDialog({
  vnfs,
  head,
  onClose,
}: {
  vnfs: string;
  head: string;
  onClose(): void;
}) {
  const seen = useSeen<Why>(apiPath`/v1/vnfs/${vnfs}/why/${head}`, 2000);
  return (
    <AnswerDialog title={`${vnfs} on ${head}`} testId="dialog-why" onClose={onClose}>
      {seen.error && !seen.data && (
        <Alert component="p" variant="danger" isInline title={seen.error.message} />
      )}
      {seen.data && <WhyText why={seen.data} />}
      <CommandLine command={symnas("vnfs", "why", vnfs, head)} />
    </AnswerDialog>
  );
}

interface AnswerDialogProps {
  title: string;
  testId: string;
  onClose(): void;
  children: ReactNode;
}

function AnswerDialog({ title, testId, onClose, children }: AnswerDialogProps) {
  return (
    <Modal
      isOpen
      variant="medium"
      onClose={onClose}
      aria-labelledby="sy-why-title"
      data-testid={testId}
    >
      <ModalHeader title={title} labelId="sy-why-title" />
      <ModalBody className="sy-stack" tabIndex={0} aria-label={title}>
        {children}
      </ModalBody>
      <ModalFooter>
        <Button variant="primary" onClick={onClose} data-testid="close">
          Close
        </Button>
      </ModalFooter>
    </Modal>
  );
}

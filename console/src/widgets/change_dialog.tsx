// Before a change: what it would do (vnfsd's own dry run), more to know, and its command.
import { Alert, Button, Modal, ModalBody, ModalFooter, ModalHeader, Spinner } from "../patternfly";
import { useEffect, useState, type ReactNode } from "react";
import { dryRunPath, type Change } from "../api/change";
import { CommandLine } from "./command_line";
import { usePage, useWhyOff } from "./context";

interface Trial {
  lines: string[];
  refusal: string;
}

function useTrial(change: Change, why: string): Trial | undefined {
  const { console } = usePage();
  const [trial, setTrial] = useState<Trial>();
  useEffect(() => {
    let wanted = true;
    const done = (one: Trial) => wanted && setTrial(one);
    if (change.dryRun === false || why !== "") {
      done({ lines: [], refusal: "" });
    } else {
      console
        .lines(change.method, dryRunPath(change), change.body)
        .then((lines) => done({ lines, refusal: "" }))
        .catch((error: Error) => done({ lines: [], refusal: error.message }));
    }
    return () => {
      wanted = false;
    };
  }, [console, change, why]);
  return trial;
}

function TrialLines({ trial }: { trial: Trial | undefined }) {
  if (!trial) {
    return (
      <p>
        <Spinner size="md" aria-label="Asking vnfsd" /> Asking vnfsd what it would do
      </p>
    );
  }
  if (trial.refusal !== "") {
    return (
      <Alert
        component="p"
        variant="danger"
        isInline
        title="It cannot be done now"
        data-testid="refusal"
      >
        {trial.refusal}
      </Alert>
    );
  }
  if (trial.lines.length === 0) return null;
  return (
    <ul className="sy-lines" data-testid="trial">
      {trial.lines.map((line, at) => (
        <li key={at}>{line}</li>
      ))}
    </ul>
  );
}

export function ChangeDialog(props: { change: Change; impact?: ReactNode; onClose(): void }) {
  const { change, impact, onClose } = props;
  const { console } = usePage();
  const why = useWhyOff(change.role);
  const trial = useTrial(change, why);
  const [sending, setSending] = useState(false);
  const send = async () => {
    setSending(true);
    await console.send(change);
    onClose();
  };
  const off = why !== "" || !trial || trial.refusal !== "" || sending;
  return (
    <Modal
      isOpen
      variant="medium"
      onClose={onClose}
      aria-labelledby="sy-change-title"
      aria-describedby="sy-change-body"
      data-testid="dialog-impact"
    >
      <ModalHeader title={change.title} labelId="sy-change-title" />
      <ModalBody id="sy-change-body" className="sy-stack" tabIndex={0} aria-label="What it does">
        {why !== "" && <Alert component="p" variant="info" isInline title={`Off: ${why}`} />}
        <TrialLines trial={trial} />
        {impact}
        {change.danger && <Alert component="p" variant="warning" isInline title={change.danger} />}
        <CommandLine command={change.command} />
      </ModalBody>
      <ModalFooter>
        <Button
          data-testid="confirm"
          variant={change.danger ? "danger" : "primary"}
          isDisabled={off}
          isLoading={sending}
          onClick={() => void send()}
        >
          {change.title.length < 40 ? change.title : "Do it"}
        </Button>
        <Button data-testid="cancel" variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}

// A form in a dialog, whose button goes on to the dialog of the change.
import { Alert, Button, Form, Modal, ModalBody, ModalFooter, ModalHeader } from "../patternfly";
import type { ReactNode } from "react";
import type { Change } from "../api/change";
import { usePage } from "./context";

interface FormDialogProps {
  title: string;
  change?: Change; // undefined: the form is not complete
  missing: string; // what is missing then
  impact?: ReactNode;
  wide?: boolean;
  onClose(): void;
  children: ReactNode;
}

export function FormDialog({
  title,
  change,
  missing,
  impact,
  wide,
  onClose,
  children,
}: FormDialogProps) {
  const { ask } = usePage();
  const go = () => {
    if (!change) return;
    onClose();
    ask(change, impact);
  };
  return (
    <Modal
      isOpen
      variant={wide ? "large" : "medium"}
      onClose={onClose}
      aria-labelledby="sy-form-title"
      data-testid="dialog-form"
    >
      <ModalHeader title={title} labelId="sy-form-title" />
      <ModalBody className="sy-stack" tabIndex={0} aria-label={title}>
        <Form
          onSubmit={(event) => {
            event.preventDefault();
            go();
          }}
        >
          {children}
        </Form>
        {!change && <Alert component="p" variant="info" isInline isPlain title={missing} />}
      </ModalBody>
      <ModalFooter>
        <Button variant="primary" data-testid="next" isDisabled={!change} onClick={go}>
          Next: what it does
        </Button>
        <Button variant="link" data-testid="cancel" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}

// A button for a change: off, and saying why, for whoever may not do it.
import { Button, Tooltip, type ButtonProps } from "../patternfly";
import type { ReactNode } from "react";
import type { Change, Role } from "../api/change";
import { usePage, useWhyOff } from "./context";

interface GuardedProps extends Omit<ButtonProps, "ref" | "role"> {
  needs: Role;
  off?: string; // another reason why it is off
  testId?: string;
  onUse(): void;
  children: ReactNode;
}

// A button that begins what needs a role.
export function GuardedButton({ needs, off = "", testId, onUse, children, ...rest }: GuardedProps) {
  const why = useWhyOff(needs) || off;
  const button = (
    <Button
      variant="secondary"
      size="sm"
      {...rest}
      data-testid={testId}
      data-why-off={why || undefined}
      isAriaDisabled={why !== ""}
      onClick={onUse}
    >
      {children}
    </Button>
  );
  return why === "" ? button : <Tooltip content={why}>{button}</Tooltip>;
}

interface ChangeButtonProps extends Omit<GuardedProps, "needs" | "onUse"> {
  change: Change;
  impact?: ReactNode;
}

export function ChangeButton({ change, impact, ...rest }: ChangeButtonProps) {
  const { ask } = usePage();
  return <GuardedButton {...rest} needs={change.role} onUse={() => ask(change, impact)} />;
}

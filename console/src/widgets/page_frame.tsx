// What every page has: a heading, a part of it, and what is shown before anything was read.
import { Alert, Card, CardBody, CardHeader, CardTitle, Spinner } from "../patternfly";
import type { ReactNode } from "react";
import { useSeen } from "./context";

interface PartProps {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}

export function Part({ title, actions, children }: PartProps) {
  return (
    <Card isCompact component="section" aria-label={title}>
      <CardHeader actions={actions ? { actions, hasNoOffset: true } : undefined}>
        <CardTitle component="h2">{title}</CardTitle>
      </CardHeader>
      <CardBody className="sy-stack">{children}</CardBody>
    </Card>
  );
}

// In the place of what is at `path`, as long as it was never read.
export function Loading({ path }: { path: string }) {
  const { error } = useSeen<unknown>(path);
  if (error)
    return (
      <Alert component="p" variant="danger" isInline title={error.message} data-testid="not-read" />
    );
  return <Spinner aria-label="Reading" />;
}

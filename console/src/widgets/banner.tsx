// Says that vnfsd does not answer, and that what is shown is old; it goes away by itself.
import { Alert } from "../patternfly";
import { clockText } from "../model/format";
import { usePage, useObserved } from "./context";

export function Banner() {
  const { lostSinceMs, error } = useObserved(usePage().console.link);
  if (lostSinceMs === 0) return null;
  const denied = error?.problem === "access-denied";
  const title = denied
    ? "You may not ask vnfsd on this head"
    : `No answer since ${clockText(lostSinceMs)}: what is shown was read before and may be old`;
  return (
    <div role="status" data-testid="banner">
      <Alert component="p" isInline variant={denied ? "info" : "warning"} title={title}>
        {error?.message}. The page goes on asking every second, and goes on by itself.
      </Alert>
    </div>
  );
}

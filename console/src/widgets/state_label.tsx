// A state in its colour; the word is always there, too.
import { Label } from "../patternfly";
import { toneOf } from "../model/placement";

export function StateLabel({ state }: { state: string }) {
  return (
    <Label isCompact color={toneOf(state)} variant="outline">
      {state || "-"}
    </Label>
  );
}

// The command that does the same as a change, to be copied.
import { ClipboardCopy } from "../patternfly";

export function CommandLine({ command }: { command: string }) {
  return (
    <div className="sy-command">
      <span className="sy-subtle" id="sy-command-label">
        The same on a head&apos;s command line
      </span>
      <ClipboardCopy
        isReadOnly
        variant="inline-compact"
        isCode
        isBlock
        hoverTip="Copy"
        clickTip="Copied"
        data-testid="command"
        copyAriaLabel="Copy the command"
      >
        {command}
      </ClipboardCopy>
    </div>
  );
}

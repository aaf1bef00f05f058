// A time line of how a VNFS came to be served: its steps, and when clients got no answer.
import type { Transition } from "../api/schema";
import { millisText } from "../model/format";
import { lineOf, shownLength } from "../model/history";

const WIDTH = 1000;
const HEIGHT = 44;
const BAR_TOP = 12;
const BAR_HEIGHT = 20;

function describe(one: Transition): string {
  const line = lineOf(one);
  const marks = line.marks.map((mark) => `${mark.name} at ${millisText(mark.ms)}`).join(", ");
  const pause =
    one.blackout_ms === undefined ? "" : `; no answer for ${millisText(one.blackout_ms)}`;
  return `${one.cause} ${one.from ? `from ${one.from} ` : ""}to ${one.to}: ${marks}${pause}`;
}

export function TimelineBar({ transition }: { transition: Transition }) {
  const line = lineOf(transition);
  const length = shownLength(line);
  const x = (ms: number) => (Math.min(ms, length) / length) * WIDTH;
  return (
    <svg
      className="sy-timeline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={describe(transition)}
    >
      <rect className="sy-timeline-bar" x={0} y={BAR_TOP} width={WIDTH} height={BAR_HEIGHT} />
      {line.waiting && (
        <rect
          className="sy-timeline-waiting"
          x={x(line.waiting.from)}
          y={BAR_TOP}
          width={Math.max(2, x(line.waiting.to) - x(line.waiting.from))}
          height={BAR_HEIGHT}
        />
      )}
      {line.marks
        .filter((mark) => mark.ms <= length)
        .map((mark, at) => (
          <rect key={at} className="sy-timeline-mark" x={x(mark.ms)} y={4} width={2} height={36}>
            <title>{`${mark.name}: ${millisText(mark.ms)}`}</title>
          </rect>
        ))}
    </svg>
  );
}

export function TimelineSteps({ transition }: { transition: Transition }) {
  const { marks } = lineOf(transition);
  return (
    <ol className="sy-steps">
      {marks.map((mark, at) => (
        <li key={at}>
          <span className="sy-steps-at">{millisText(mark.ms)}</span> {mark.name}
        </li>
      ))}
      {transition.kept > 0 && <li>{transition.kept} requests were left to the next instance</li>}
      {transition.error !== "" && <li>{transition.error}</li>}
    </ol>
  );
}

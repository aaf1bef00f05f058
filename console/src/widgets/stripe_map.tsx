// How a volume's bytes go round its LUNs: the first stripe units, each with the LUN that has it.
import type { VolumeRecord } from "../api/schema";

const SHOWN = 16;
const CELL = 60;

export function StripeMap({ volume }: { volume: VolumeRecord }) {
  const { luns } = volume;
  if (luns.length === 0) return null;
  const text =
    volume.segments === 1
      ? `Stripe units go round ${luns.join(", ")}`
      : `${volume.segments} segments, each striped over the LUNs that were added with it: ${luns.join(", ")}`;
  if (volume.segments !== 1) return <p className="sy-subtle">{text}</p>;
  const units = Array.from(
    { length: Math.min(SHOWN, Math.max(luns.length * 2, 4)) },
    (_one, at) => at,
  );
  return (
    <figure className="sy-chart">
      <figcaption className="sy-subtle">{text}</figcaption>
      <svg
        className="sy-stripes"
        width={units.length * CELL}
        height={30}
        viewBox={`0 0 ${units.length * CELL} 30`}
        role="img"
        aria-label={text}
        preserveAspectRatio="xMinYMin meet"
      >
        {units.map((at) => (
          <g
            key={at}
            className={at % luns.length === 0 ? "sy-stripe sy-stripe-first" : "sy-stripe"}
          >
            <rect x={at * CELL + 1} y={1} width={CELL - 2} height={28} />
            <text x={at * CELL + CELL / 2} y={20} textAnchor="middle">
              {luns[at % luns.length]?.slice(0, 7)}
            </text>
          </g>
        ))}
      </svg>
    </figure>
  );
}

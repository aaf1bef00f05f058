// A value over time, as a line.

interface Point {
  x: number;
  y: number;
}

interface LineChartProps {
  title: string;
  points: readonly Point[];
  text(value: number): string;
}

const WIDTH = 600;
const HEIGHT = 120;

export function LineChart({ title, points, text }: LineChartProps) {
  const last = points.at(-1);
  const from = points[0]?.x ?? 0;
  const span = Math.max(1, (last?.x ?? 0) - from);
  const most = points.reduce((max, point) => Math.max(max, point.y), 0);
  const path = points
    .map(({ x, y }) => {
      const left = ((x - from) / span) * WIDTH;
      const top = HEIGHT - (most > 0 ? (y / most) * (HEIGHT - 8) : 0) - 2;
      return `${left.toFixed(1)},${top.toFixed(1)}`;
    })
    .join(" ");
  const now = text(last?.y ?? 0);
  return (
    <figure className="sy-chart">
      <figcaption>
        {title}
        <span className="sy-subtle">{` now ${now}, at most ${text(most)}`}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: now ${now}, at most ${text(most)}`}
      >
        <polyline className="sy-chart-line" points={path} />
      </svg>
    </figure>
  );
}

/** A figure of the evaluation as a chart: its axes and series say everything. */
import type { VNode } from "preact";
import type { Figure } from "../documents";
import { Bars, Chart, type Series } from "../parts/chart";

export function Drawing({ figure }: { figure: Figure }): VNode {
  const { title, kind, x, y, series } = figure;
  const label = `${title}: ${y.label} by ${x.label}`;
  if (kind === "bars")
    return (
      <Bars
        label={label}
        x={x.label}
        y={y}
        series={series.map(({ name, points }) => ({
          name,
          points: points.map(([at, value, said]) => [String(at), value, said]),
        }))}
      />
    );
  // Equal scales show by eye how far points are from the diagonal.
  const same = figure.diagonal && x.log && y.log ? together(series) : undefined;
  return (
    <Chart
      label={label}
      kind={kind}
      x={{ ...x, domain: same }}
      y={{ ...y, domain: same }}
      series={series.map(({ name, points }) => ({ name, points: numeric(points) }))}
      diagonal={figure.diagonal}
      height={figure.diagonal ? 360 : 300}
    />
  );
}

function numeric(points: Figure["series"][number]["points"]): Series["points"] {
  return points.map(([x, y, label]) => [Number(x), y, label]);
}

/** A range in which the values of both logarithmic axes lie. */
function together(series: Figure["series"]): [number, number] | undefined {
  const values = series
    .flatMap(({ points }) => points.flatMap(([x, y]) => [Number(x), y]))
    .filter((value) => Number.isFinite(value) && value > 0);
  return values.length ? [Math.min(...values) / 1.2, Math.max(...values) * 1.2] : undefined;
}

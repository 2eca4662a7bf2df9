/** What the machine can do at each arithmetic intensity, and where the nest was before and after. */
import type { VNode } from "preact";
import type { Roofline } from "../documents";
import { Chart } from "../parts/chart";
import { figure } from "../text";

export function RooflineChart({ roofline }: { roofline: Roofline }): VNode {
  const { points } = roofline;
  // Without the machine's limits the points stand alone.
  const known = roofline.peak_gflops !== null && roofline.bandwidth_gb_s !== null;
  const peak = roofline.peak_gflops ?? Math.max(...points.map(({ gflops }) => gflops), 1);
  const bandwidth = roofline.bandwidth_gb_s ?? peak;
  const ridge = peak / bandwidth;
  const intensities = points.map(({ intensity }) => intensity).filter((value) => value > 0);
  const speeds = points.map(({ gflops }) => gflops).filter((value) => value > 0);
  const xs: [number, number] = [Math.min(ridge / 8, ...intensities) / 1.6, Math.max(ridge * 8, ...intensities) * 1.6];
  const ys: [number, number] = [Math.min(peak / 50, ...speeds) / 2, Math.max(peak, ...speeds) * 1.8];
  const labels = [...new Set(points.map(({ label }) => label))];
  const words = points.map((point) => `${point.label}${point.preset ? ` at ${point.preset}` : ""} ${figure(point.gflops)} GFLOP/s`);
  return (
    <>
      {roofline.note && <p class="aside">{roofline.note}</p>}
    <Chart
      kind="points"
      label={`Roofline: ${known ? `at most ${figure(peak)} GFLOP/s and ${figure(bandwidth)} GB/s` : "the machine was not measured"}; ${words.join(", ")}`}
      height={300}
      named
      x={{ label: "arithmetic intensity, FLOP per byte", log: true, domain: xs }}
      y={{ label: "GFLOP/s", log: true, domain: ys }}
      series={labels.map((label) => ({
        name: label,
        points: points
          .filter((point) => point.label === label)
          .map((point) => [point.intensity, point.gflops, point.preset ? `${label}, ${point.preset}` : label]),
      }))}
      extra={(x, y) => {
        if (!known) return null;
        const foot = Math.max(xs[0], ys[0] / bandwidth);
        return (
          <g class="roof">
            <path d={`M${x(foot)} ${y(foot * bandwidth)}L${x(ridge)} ${y(peak)}L${x(xs[1])} ${y(peak)}`} />
            <text x={x(ridge) + 4} y={y(peak) - 7}>
              {figure(peak)} GFLOP/s
            </text>
            <text x={x(Math.sqrt(foot * ridge)) - 8} y={y(Math.sqrt(foot * ridge) * bandwidth) - 4} text-anchor="end">
              {figure(bandwidth)} GB/s
            </text>
          </g>
        );
      }}
    />
    </>
  );
}

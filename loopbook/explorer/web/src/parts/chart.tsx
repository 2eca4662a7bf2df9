/**
 * Charts as SVG: lines, points and bars on linear or logarithmic axes. Each comes with the same
 * numbers as a table, for those who do not see it.
 */
import { scaleBand, scaleLinear, scaleLog } from "d3-scale";
import { curveStepAfter, line } from "d3-shape";
import type { ComponentChildren, VNode } from "preact";
import { look, outline, seriesColour } from "../palette";
import { figure } from "../text";
import { useTheme } from "../theme";
import { useWidth } from "./width";

export interface Axis {
  label: string;
  log?: boolean;
  /** The least and the greatest value shown, where the points don't say so. */
  domain?: [number, number];
}

export interface Series {
  name: string;
  points: [number, number, string?][];
}

type Along = ((value: number) => number) & { ticks: (count: number) => number[] };

const MARGIN = { top: 12, right: 16, bottom: 44, left: 60 };

function extent(values: number[], log: boolean, given?: [number, number]): [number, number] {
  if (given) return given;
  const usable = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  let [low, high] = [Math.min(...usable), Math.max(...usable)];
  if (!usable.length) [low, high] = [log ? 0.1 : 0, 1];
  if (log) return [low / 1.3, high * 1.3];
  if (low > 0 && low < 0.6 * high) low = 0;
  const room = (high - low || 1) * 0.05;
  return [low === 0 ? 0 : low - room, high + room];
}

function scaled(axis: Axis, values: number[], range: [number, number]): Along {
  const domain = extent(values, axis.log ?? false, axis.domain);
  return (axis.log ? scaleLog(domain, range) : scaleLinear(domain, range).nice()) as unknown as Along;
}

/** At most `count` ticks; of logarithmic ones the rounder are kept. */
function ticks(along: Along, log: boolean | undefined, count: number): number[] {
  const all = along.ticks(count);
  if (!log || all.length <= count) return all;
  for (const leads of [[1, 2, 5], [1, 3], [1]]) {
    const some = all.filter((tick) => leads.includes(Math.round(tick / 10 ** Math.floor(Math.log10(tick) + 1e-9))));
    if (some.length >= 2 && some.length <= count) return some;
  }
  const some = all.filter((tick) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9);
  const every = Math.ceil(some.length / count);
  return some.length >= 2 ? some.filter((_, index) => index % every === 0) : all.filter((_, i) => i % Math.ceil(all.length / count) === 0);
}

function Frame(props: {
  x: Along;
  y: Along;
  xAxis: Axis;
  yAxis: Axis;
  width: number;
  height: number;
  names?: { name: string; at: number }[];
}): VNode {
  const { x, y, width, height } = props;
  const bottom = height - MARGIN.bottom;
  const right = width - MARGIN.right;
  return (
    <g class="axes">
      {ticks(y, props.yAxis.log, Math.max(3, Math.floor(height / 45))).map((tick) => (
        <g key={tick} transform={`translate(0 ${y(tick)})`}>
          <line class="grid" x1={MARGIN.left} x2={right} />
          <text x={MARGIN.left - 8} dy="0.32em" text-anchor="end">
            {figure(tick)}
          </text>
        </g>
      ))}
      {props.names
        ? props.names.map(({ name, at }) => (
            <text key={name} x={at} y={bottom + 18} text-anchor="middle">
              {name}
            </text>
          ))
        : ticks(x, props.xAxis.log, Math.max(3, Math.floor(width / 90))).map((tick) => (
            <g key={tick} transform={`translate(${x(tick)} 0)`}>
              <line class="grid" y1={MARGIN.top} y2={bottom} />
              <text y={bottom + 18} text-anchor="middle">
                {figure(tick)}
              </text>
            </g>
          ))}
      <line class="base" x1={MARGIN.left} x2={right} y1={bottom} y2={bottom} />
      <text class="title" x={(MARGIN.left + right) / 2} y={height - 6} text-anchor="middle">
        {props.xAxis.label}
      </text>
      <text
        class="title"
        transform={`translate(14 ${(MARGIN.top + bottom) / 2}) rotate(-90)`}
        text-anchor="middle"
      >
        {props.yAxis.label}
      </text>
    </g>
  );
}

/** Which look is which series. */
function Key({ names, shapes }: { names: string[]; shapes: boolean }): VNode | null {
  const theme = useTheme();
  if (names.length < 2) return null;
  return (
    <ul class="key">
      {names.map((name, index) => {
        const { colour, shape } = look(index, theme);
        return (
          <li key={name}>
            <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
              <path d={shapes ? outline(shape, 5) : "M-6-2h12v4h-12z"} fill={colour} />
            </svg>
            {name}
          </li>
        );
      })}
    </ul>
  );
}

function Numbers(props: { x: string; y: string; series: { name: string; points: [number | string, number, string?][] }[] }): VNode {
  return (
    <details class="numbers">
      <summary>As a table</summary>
      <div class="table" role="region" aria-label="The numbers of this chart" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">series</th>
              <th scope="col" class="number">
                {props.x}
              </th>
              <th scope="col" class="number">
                {props.y}
              </th>
            </tr>
          </thead>
          <tbody>
            {props.series.flatMap(({ name, points }) =>
              points.slice(0, 500).map(([x, y, label], index) => (
                <tr key={`${name} ${index}`}>
                  <th scope="row">{label ? `${name}: ${label}` : name}</th>
                  <td class="number">{typeof x === "number" ? figure(x) : x}</td>
                  <td class="number">{figure(y)}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
    </details>
  );
}

export function Chart(props: {
  /** What it shows, in words. */
  label: string;
  kind: "lines" | "points";
  x: Axis;
  y: Axis;
  series: Series[];
  height?: number;
  /** Lines hold their value until the next point. */
  steps?: boolean;
  /** The line on which both are equal. */
  diagonal?: boolean;
  /** More to draw, in the chart's coordinates. */
  extra?: (x: (value: number) => number, y: (value: number) => number) => ComponentChildren;
  /** Writes each point's label beside it. */
  named?: boolean;
}): VNode {
  const theme = useTheme();
  const [ref, width] = useWidth<HTMLDivElement>(480);
  const height = props.height ?? 260;
  const all = props.series.flatMap(({ points }) => points);
  const x = scaled(props.x, all.map(([value]) => value), [MARGIN.left, width - MARGIN.right]);
  const y = scaled(props.y, all.map(([, value]) => value), [height - MARGIN.bottom, MARGIN.top]);
  const path = line<[number, number, string?]>(
    (point) => x(point[0]),
    (point) => y(point[1]),
  );
  if (props.steps) path.curve(curveStepAfter);
  return (
    <div class="chart" ref={ref}>
      <Key names={props.series.map(({ name }) => name)} shapes={props.kind === "points"} />
      <svg width={width} height={height} role="img" aria-label={props.label}>
        <Frame x={x} y={y} xAxis={props.x} yAxis={props.y} width={width} height={height} />
        {props.diagonal && <Diagonal x={x} y={y} width={width} height={height} />}
        {props.extra?.(x, y)}
        {props.series.map(({ name, points }, index) => {
          const { colour, shape } = look(index, theme);
          const drawn = points.filter(
            ([a, b]) => Number.isFinite(a) && Number.isFinite(b) && (!props.x.log || a > 0) && (!props.y.log || b > 0),
          );
          if (props.kind === "lines")
            return <path key={name} d={path(drawn) ?? ""} fill="none" stroke={colour} stroke-width="2" />;
          return (
            <g key={name} fill={colour}>
              {drawn.map(([a, b, label], at) => (
                <g key={at} transform={`translate(${x(a)} ${y(b)})`}>
                  <path class="mark" d={outline(shape, 4.5)}>
                    <title>{`${label ?? name}: ${figure(a)}, ${figure(b)}`}</title>
                  </path>
                  {props.named && (
                    <text
                      class="name"
                      x={x(a) > 0.7 * width ? -9 : 9}
                      dy="0.32em"
                      text-anchor={x(a) > 0.7 * width ? "end" : "start"}
                    >
                      {label ?? name}
                    </text>
                  )}
                </g>
              ))}
            </g>
          );
        })}
      </svg>
      <Numbers x={props.x.label} y={props.y.label} series={props.series} />
    </div>
  );
}

function Diagonal(props: { x: Along; y: Along; width: number; height: number }): VNode | null {
  const { x, y } = props;
  const domain = (along: Along) => (along as unknown as { domain: () => [number, number] }).domain();
  const [xs, ys] = [domain(x), domain(y)];
  const [low, high] = [Math.max(xs[0], ys[0]), Math.min(xs[1], ys[1])];
  if (low >= high) return null;
  return <line class="diagonal" x1={x(low)} y1={y(low)} x2={x(high)} y2={y(high)} />;
}

/** Bars beside each other for each name; bars of a logarithmic axis stand on 1. */
export function Bars(props: {
  label: string;
  x: string;
  y: Axis;
  series: { name: string; points: [string, number, string?][] }[];
  height?: number;
}): VNode {
  const theme = useTheme();
  const [ref, outer] = useWidth<HTMLDivElement>(480);
  const names = [...new Set(props.series.flatMap(({ points }) => points.map(([name]) => name)))];
  const values = props.series.flatMap(({ points }) => points.map(([, value]) => value));
  const longest = Math.max(...names.map((name) => name.length), 4);
  // Bars lie on their side: names of kernels are long.
  const left = Math.min(0.4 * outer, 7 * longest + 14);
  const thick = Math.max(6, Math.min(14, 40 / props.series.length));
  const step = thick * props.series.length + 8;
  const height = names.length * step + 46;
  const floor = props.y.log ? Math.min(1, ...values.filter((value) => value > 0)) : Math.min(0, ...values);
  const top = Math.max(props.y.log ? 1 : 0, ...values.filter(Number.isFinite));
  const domain: [number, number] = props.y.log ? [floor / 1.1, top * 1.1] : [floor, top || 1];
  const x = scaled({ ...props.y, domain }, [], [left, outer - 52]);
  const zero = x(props.y.log ? 1 : 0);
  const band = scaleBand(names, [4, height - 42]).paddingInner(8 / step);
  return (
    <div class="chart" ref={ref}>
      <Key names={props.series.map(({ name }) => name)} shapes={false} />
      <svg width={outer} height={height} role="img" aria-label={props.label}>
        <g class="axes">
          {ticks(x, props.y.log, Math.max(3, Math.floor(outer / 90))).map((tick) => (
            <g key={tick} transform={`translate(${x(tick)} 0)`}>
              <line class="grid" y1="0" y2={height - 42} />
              <text y={height - 26} text-anchor="middle">
                {figure(tick)}
              </text>
            </g>
          ))}
          {names.map((name) => (
            <text key={name} x={left - 8} y={band(name)! + band.bandwidth() / 2} dy="0.32em" text-anchor="end">
              {7 * name.length > left ? `${name.slice(0, Math.floor(left / 7) - 2)}…` : name}
              <title>{name}</title>
            </text>
          ))}
          <text class="title" x={(left + outer - 52) / 2} y={height - 6} text-anchor="middle">
            {props.y.label}
          </text>
        </g>
        {props.series.map(({ name, points }, index) => (
          <g key={name} fill={seriesColour(index, theme)}>
            {points.filter(([, value]) => Number.isFinite(value)).map(([at, value, label]) => {
              const end = x(value);
              const y = band(at)! + index * thick;
              return (
                <g key={at}>
                  <rect x={Math.min(zero, end)} y={y} width={Math.max(1, Math.abs(end - zero))} height={thick - 1}>
                    <title>{`${at}, ${name}: ${label ?? figure(value)}`}</title>
                  </rect>
                  <text class="name" x={Math.max(zero, end) + 5} y={y + thick / 2} dy="0.32em">
                    {label ?? figure(value)}
                  </text>
                </g>
              );
            })}
          </g>
        ))}
        <line class="base" x1={zero} x2={zero} y1="0" y2={height - 42} />
      </svg>
      <Numbers x={props.x} y={props.y.label} series={props.series} />
    </div>
  );
}

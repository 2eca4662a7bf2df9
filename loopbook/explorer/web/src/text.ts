/** Numbers and times as people read them. */

/** A speedup, with as many digits as it deserves. */
export function times(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return "–";
  if (value >= 100) return `${Math.round(value).toLocaleString("en")}×`;
  return `${value.toFixed(value >= 10 ? 1 : 2)}×`;
}

export function count(value: number): string {
  return value.toLocaleString("en");
}

/** A number with three significant digits. */
export function figure(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return count(value);
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2);
  return String(Number(value.toPrecision(3)));
}

export function percent(value: number | null | undefined): string {
  return value == null ? "–" : `${(100 * value).toFixed(1)} %`;
}

/** A time in the unit that fits. */
export function seconds(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return "–";
  for (const [limit, scale, unit] of [
    [1e-6, 1e9, "ns"],
    [1e-3, 1e6, "µs"],
    [1, 1e3, "ms"],
  ] as const) {
    if (value < limit) return `${Number((value * scale).toPrecision(3))} ${unit}`;
  }
  return `${Number(value.toPrecision(3))} s`;
}

/** A day, from Unix seconds or an ISO date. */
export function day(value: number | string | null | undefined): string {
  if (value == null || value === "") return "–";
  const date = new Date(typeof value === "number" ? value * 1000 : value);
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString().slice(0, 10);
}

/** The time of day if it was today, else the day; from Unix seconds. */
export function moment(value: number, now: number): string {
  const date = new Date(value * 1000);
  if (date.toDateString() !== new Date(now * 1000).toDateString()) return day(value);
  return date.toLocaleTimeString("en-GB");
}

/** How long ago, from Unix seconds. */
export function ago(value: number | null | undefined, now: number): string {
  if (value == null) return "–";
  const passed = Math.max(0, now - value);
  if (passed < 60) return `${Math.round(passed)} s ago`;
  if (passed < 3600) return `${Math.round(passed / 60)} min ago`;
  if (passed < 172800) return `${Math.round(passed / 3600)} h ago`;
  return `${Math.round(passed / 86400)} days ago`;
}

/** A word and its number: `1 record`, `2 records`. */
export function counted(number: number, word: string): string {
  if (number === 1) return `1 ${word}`;
  const many = word.endsWith("s") ? `${word}es` : word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`;
  return `${count(number)} ${many}`;
}

/** What is chosen on the map, as the address holds it. */
import { choose } from "../address";
import type { Filters } from "./atlas";
import { COLOURINGS, type Colouring } from "./scene";
import type { Place } from "./view";

export interface Chosen extends Filters {
  by: Colouring;
  misses: boolean;
  place: Place | null;
  polygon: [number, number][] | null;
}

function numbers(text: string | null, separator: string): number[] {
  return (text ?? "").split(separator).filter(Boolean).map(Number);
}

/** `1.5..8`, `1.5..` or `..8`. */
function range(text: string | null): [number, number] {
  const [low = "", high = ""] = (text ?? "").split("..");
  return [Number(low) || 0, high === "" || Number.isNaN(Number(high)) ? Infinity : Number(high)];
}

export function chosen(query: URLSearchParams): Chosen {
  const by = query.get("colour") as Colouring;
  const [x, y, k] = numbers(query.get("view"), ",");
  const corners = (query.get("lasso") ?? "")
    .split(";")
    .map((corner) => numbers(corner, ","))
    .filter((corner) => corner.length === 2 && corner.every(Number.isFinite)) as [number, number][];
  return {
    families: query.getAll("family"),
    machines: query.getAll("machine"),
    targets: query.getAll("target"),
    speedup: range(query.get("speedup")),
    search: query.get("q") ?? "",
    by: COLOURINGS.includes(by) ? by : "speedup",
    misses: query.get("misses") !== "no",
    place: [x, y, k].every(Number.isFinite) && k! > 0 ? { x: x!, y: y!, k: k! } : null,
    polygon: corners.length > 2 ? corners : null,
  };
}

export function choosePlace({ x, y, k }: Place): void {
  const all = Math.abs(x) < 1e-3 && Math.abs(y) < 1e-3 && Math.abs(k - 1) < 1e-3;
  choose({ view: all ? null : `${x.toFixed(4)},${y.toFixed(4)},${k.toFixed(3)}` }, { replace: true });
}

export function choosePolygon(polygon: [number, number][] | null): void {
  choose({ lasso: polygon && polygon.map(([x, y]) => `${x.toFixed(3)},${y.toFixed(3)}`).join(";") });
}

export function chooseSpeedup(low: number, high: number): void {
  const said = low > 0 || high < Infinity;
  choose({ speedup: said ? `${low > 0 ? low : ""}..${high < Infinity ? high : ""}` : null }, { replace: true });
}

/** What each point looks like: its colour and shape by what the map is coloured by. */
import { ageRamp, look, LOOKS, speedupRamp, type Look, type Ramp } from "../palette";
import type { Theme } from "../theme";
import type { Atlas } from "./atlas";
import { packed, RING, type Points } from "./painter";

export const COLOURINGS = ["speedup", "family", "machine", "age"] as const;
export type Colouring = (typeof COLOURINGS)[number];

export const BACKGROUND: Record<Theme, string> = { light: "#fbfbfa", dark: "#14171b" };
const MISS: Record<Theme, string> = { light: "#3c4043", dark: "#dadce0" };
const UNKNOWN: Record<Theme, string> = { light: "#9aa0a6", dark: "#6b7178" };

/** Looks of families or machines: the most frequent first, what has no look left shares one. */
export function looks(atlas: Atlas, kind: "family" | "machine", theme: Theme): Look[] {
  const many = kind === "family" ? atlas.document.families.length : atlas.document.machines.length;
  const totals = new Uint32Array(many);
  for (const index of atlas[kind]) totals[index]!++;
  const order = [...totals.keys()].sort((a, b) => totals[b]! - totals[a]!);
  const found: Look[] = new Array(many);
  order.forEach((index, rank) => {
    found[index] = rank < LOOKS ? look(rank, theme) : { colour: UNKNOWN[theme], shape: 0 };
  });
  return found;
}

export function ramp(atlas: Atlas, kind: "speedup" | "age", theme: Theme): Ramp {
  return kind === "speedup" ? speedupRamp(atlas.speedups, theme) : ageRamp(atlas.ages, theme);
}

/** Points whose arrays the view keeps; `show` is written anew at each choice. */
export function dressed(atlas: Atlas, by: Colouring, theme: Theme): Points {
  const { count, x, y } = atlas;
  const colour = new Uint32Array(count);
  const shape = new Uint8Array(count);
  if (by === "family" || by === "machine") {
    const found = looks(atlas, by, theme);
    const colours = found.map((one) => packed(one.colour));
    const column = atlas[by];
    for (let i = 0; i < count; i++) {
      colour[i] = colours[column[i]!]!;
      shape[i] = found[column[i]!]!.shape;
    }
  } else {
    const values = by === "speedup" ? atlas.speedup : atlas.created;
    const [low, high] = by === "speedup" ? atlas.speedups : atlas.ages;
    const along = (value: number) =>
      by === "speedup"
        ? (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))
        : (value - low) / (high - low);
    const back = (part: number) =>
      by === "speedup" ? Math.exp(Math.log(low) + part * (Math.log(high) - Math.log(low))) : low + part * (high - low);
    const colours = ramp(atlas, by, theme);
    const steps = Array.from({ length: 256 }, (_, step) => packed(colours(back(step / 255))));
    const unknown = packed(UNKNOWN[theme]);
    for (let i = 0; i < count; i++) {
      const value = values[i]!;
      const step = Math.min(255, Math.max(0, Math.round(along(value) * 255)));
      colour[i] = Number.isFinite(value) ? steps[step]! : unknown;
    }
  }
  return { count, x, y, colour, shape, show: new Uint8Array(count) };
}

/** Misses as hollow circles; what has been tuned since is on the map as a record. */
export function missing(atlas: Atlas, theme: Theme, shown: boolean): Points {
  const { misses } = atlas.document;
  const open = [...misses.id.keys()].filter((index) => misses.x[index] != null);
  const record = speedupRamp(atlas.speedups, theme);
  const colour = open.map((index) => {
    const id = misses.record[index];
    const at = id ? atlas.indexOf(id) : undefined;
    return packed(misses.state[index] === "done" && at !== undefined ? record(atlas.speedup[at]!) : MISS[theme]);
  });
  return {
    count: open.length,
    x: Float32Array.from(open, (index) => misses.x[index]!),
    y: Float32Array.from(open, (index) => misses.y[index]!),
    colour: Uint32Array.from(colour),
    shape: Uint8Array.from(open, (index) => (misses.state[index] === "done" ? 0 : RING)),
    show: new Uint8Array(open.length).fill(shown ? 2 : 0),
  };
}

/**
 * Colours that stay apart for people who see few colours, and shapes that tell apart what shares a
 * colour: eight colours and seven shapes give 56 looks, no two alike.
 */
import { scaleLog, scaleSequential } from "d3-scale";
import { interpolateCividis, interpolateViridis } from "d3-scale-chromatic";
import {
  symbol,
  symbolCircle,
  symbolCross,
  symbolDiamond,
  symbolSquare,
  symbolStar,
  symbolTriangle,
  symbolWye,
} from "d3-shape";
import type { Theme } from "./theme";

// Each at least 3:1 against the page, the limit for graphics.
const COLOURS: Record<Theme, string[]> = {
  light: ["#0b63a8", "#c8550a", "#00806b", "#a03a7d", "#7a6400", "#2a8fc7", "#5a48b0", "#5f6368"],
  dark: ["#5fb0f0", "#f2994a", "#3ccfae", "#ec8fc6", "#e6d24a", "#a5d8ff", "#b7a3ff", "#b9bdc3"],
};

const SHAPES = [
  symbolCircle,
  symbolSquare,
  symbolTriangle,
  symbolDiamond,
  symbolCross,
  symbolStar,
  symbolWye,
];

/** How many looks there are; what comes after them shares the last, called "others". */
export const LOOKS = COLOURS.light.length * SHAPES.length;

export interface Look {
  colour: string;
  /** Which of the shapes. */
  shape: number;
}

/** The look of the nth of many. 8 and 7 share no divisor, so that none comes twice. */
export function look(index: number, theme: Theme): Look {
  const colours = COLOURS[theme];
  return { colour: colours[index % colours.length]!, shape: index % SHAPES.length };
}

/** The outline of a shape about (0, 0), with the same area whatever the shape. */
export function outline(shape: number, radius: number): string {
  return symbol(SHAPES[shape]!, Math.PI * radius * radius)() ?? "";
}

export const SHAPE_COUNT = SHAPES.length;

/** The colour of series and lines. */
export function seriesColour(index: number, theme: Theme): string {
  return look(index, theme).colour;
}

// The end of a ramp that is nearest to the page's own colour is left out.
const ENDS: Record<Theme, [number, number]> = { light: [0, 0.82], dark: [0.28, 1] };

export type Ramp = (value: number) => string;

/** Colours of speedups, by their logarithm. */
export function speedupRamp([low, high]: [number, number], theme: Theme): Ramp {
  const [start, end] = ENDS[theme];
  const along = scaleLog([low, high], [start, end]).clamp(true);
  return (value) => interpolateViridis(along(value));
}

/** Colours of dates. */
export function ageRamp([low, high]: [number, number], theme: Theme): Ramp {
  const [start, end] = ENDS[theme];
  const along = scaleSequential([low, high], (t: number) => interpolateCividis(start + t * (end - start)));
  along.clamp(true);
  return (value) => along(value);
}

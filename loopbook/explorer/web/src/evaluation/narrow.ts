/** The rows and points whose names have all words that are searched for. */
import type { Cell, EvaluationTable, Figure } from "../documents";

export interface Row {
  /** Which of the table's rows, whatever the order. */
  index: number;
  cells: Cell[];
}

function having(words: string): (text: string) => boolean {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => wanted.every((word) => text.toLowerCase().includes(word));
}

export function narrowed(table: EvaluationTable, words: string): Row[] {
  const passes = having(words);
  return table.rows
    .map((cells, index) => ({ index, cells }))
    .filter(({ cells }) => passes(cells.filter((cell) => typeof cell === "string").join(" ")));
}

/** A figure's points by their own names and their series'; lines stay whole. */
export function narrowedFigure(figure: Figure, words: string): Figure {
  const passes = having(words);
  const series = figure.series.map(({ name, points }) => ({
    name,
    points: points.filter(([x, , label]) => {
      const named = typeof x === "string" ? x : label;
      return named === undefined || passes(`${name} ${named} ${label ?? ""}`);
    }),
  }));
  return { ...figure, series };
}

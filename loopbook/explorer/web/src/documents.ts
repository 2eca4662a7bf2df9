/** The documents that the pages are drawn from: each is the `.json` twin of a page's address. */

export interface About {
  version: string;
  book: string;
  records: number;
  families: number;
  machines: number;
  misses: number;
  read_only: boolean;
  pages: string[];
  commands?: Record<string, string[]>;
}

export interface Machine {
  id: string;
  name: string;
}

/** Columns, since 100,000 rows of named fields would be read for seconds. */
export interface MapDocument {
  generated: string;
  count: number;
  projection: { method: string; encoder: string };
  families: string[];
  machines: Machine[];
  targets: string[];
  columns: {
    id: string[];
    name: string[];
    x: number[];
    y: number[];
    speedup: (number | null)[];
    family: number[];
    machine: number[];
    target: number[];
    created: number[];
  };
  clusters: { x: number; y: number; name: string; size: number }[];
  misses: {
    id: string[];
    x: number[];
    y: number[];
    asked: number[];
    state: ("open" | "leased" | "done" | "failed")[];
    record: (string | null)[];
  };
}

export interface Step {
  step: string | null;
  summary: string;
  nest: string;
  cpp: string | null;
  refused: string | null;
  /** Still to be worked out: `nest` is that of the step before. */
  pending?: boolean;
}

/** The steps once more, complete and with their C++, which takes seconds to generate. */
export interface CppDocument {
  id: string;
  steps: Step[];
  problem: string | null;
}

export interface Size {
  preset: string | null;
  sizes: Record<string, number>;
  machine?: string;
  baseline_s: number;
  optimized_s: number;
  speedup: number;
}

export interface Roofline {
  /** Null where the machine was not measured. */
  peak_gflops: number | null;
  bandwidth_gb_s: number | null;
  /** How work and bytes were counted. */
  note?: string;
  points: { label: string; intensity: number; gflops: number; preset?: string }[];
}

export interface RecordDocument {
  id: string;
  name: string;
  family: string;
  target: string;
  machine: Record<string, unknown>;
  speedup: number | null;
  created: number | string | null;
  provenance: Record<string, unknown>;
  nest: string;
  recipe: string[];
  steps: Step[];
  sizes: Size[];
  roofline: Roofline | null;
  related: { id: string; name: string; distance: number; speedup: number | null }[];
  commands: string[];
  /** What could not be read of a damaged record. */
  problems?: string[];
}

export interface LocateNeighbour {
  record: string;
  name: string;
  x: number;
  y: number;
  distance: number;
  expected: { low: number; mid: number; high: number } | null;
  taken: boolean;
  why: string;
  refused: string[];
  recipe: string[];
}

export interface LocatedNest {
  name?: string;
  loops: string;
  x: number | null;
  y: number | null;
  decision: {
    tier: string;
    record: string | null;
    why: string;
    recipe?: string[];
    expected?: { low: number; mid: number; high: number } | null;
  };
  neighbours: LocateNeighbour[];
}

export interface LocateDocument {
  nests: LocatedNest[];
  problems: string[];
  command: string;
}

export interface Search {
  id: string;
  name: string;
  target: string;
  state: "running" | "done" | "failed";
  trials: number;
  failures: number;
  /** Trial and speedup of each new best. */
  best: [number, number][];
}

export interface LiveDocument {
  generated: string;
  queue: Record<string, number>;
  tasks: {
    id: string;
    kind: string;
    name: string;
    state: string;
    worker: string | null;
    since: number | null;
    error?: string;
  }[];
  workers: {
    name: string;
    machine: string;
    state: string;
    task: string | null;
    seen: number | null;
  }[];
  misses: {
    open: number;
    done: number;
    latest: { id: string; name: string; asked: number; state: string; record: string | null }[];
  };
  events: { time: number; kind: string; text: string; record: string | null }[];
  searches: Search[];
}

export type Cell = string | number | boolean | null;

export interface EvaluationTable {
  id: string;
  title: string;
  note?: string;
  columns: { key: string; label: string; kind: "text" | "number" | "times" | "percent" | "seconds" }[];
  rows: Cell[][];
}

export interface Figure {
  id: string;
  title: string;
  note?: string;
  kind: "lines" | "points" | "bars";
  x: { label: string; log?: boolean };
  y: { label: string; log?: boolean };
  diagonal?: boolean;
  series: { name: string; points: [number | string, number, string?][] }[];
}

export interface EvaluationDocument {
  generated: string;
  commands: string[];
  tables: EvaluationTable[];
  figures: Figure[];
  problem?: string;
}

/** What a static report holds in place of addresses. */
export interface ReportData {
  about: About;
  map: MapDocument;
  records: Record<string, RecordDocument>;
  evaluation?: EvaluationDocument;
}

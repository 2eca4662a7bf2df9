/** The points of the map as typed arrays, and which of them pass the filters. */
import KDBush from "kdbush";
import { polygonContains } from "d3-polygon";
import type { MapDocument } from "../documents";

export interface Filters {
  families: string[];
  machines: string[];
  targets: string[];
  /** The least and the greatest speedup. */
  speedup: [number, number];
  /** Words, all of which stand in a name or an id. */
  search: string;
}

/** One bit for each filter: set for points that it takes out. */
const FAMILY = 1;
const MACHINE = 2;
const TARGET = 4;
const SPEEDUP = 8;
const SEARCH = 16;

export const BINS = 28;

/** The positive ones of some numbers, sorted. */
function sorted(values: Float64Array): Float64Array {
  return values.filter((value) => value > 0).sort();
}

/** What so large a part of sorted numbers is below; NaN where there are none. */
function quantile(values: Float64Array, part: number): number {
  const at = part * (values.length - 1);
  const [low, high] = [values[Math.floor(at)] ?? NaN, values[Math.ceil(at)] ?? NaN];
  return low + (high - low) * (at - Math.floor(at));
}

/** How many points there are of each kind, each counted under all filters but its own. */
export interface Counts {
  family: Uint32Array;
  machine: Uint32Array;
  target: Uint32Array;
  speedup: Uint32Array;
  /** Those that pass all. */
  all: number;
}

export interface Statistics {
  count: number;
  /** The geometric mean, as for all ratios. */
  mean: number;
  quartiles: [number, number, number];
  least: number;
  greatest: number;
}

export class Atlas {
  readonly count: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly speedup: Float32Array;
  readonly family: Uint16Array;
  readonly machine: Uint16Array;
  readonly target: Uint8Array;
  readonly created: Float64Array;
  readonly ids: string[];
  readonly names: string[];
  /** Names of machines; what else is called the same has the beginning of its id. */
  readonly machineNames: string[];
  /** The range of speedups that colours spread over: the middle 98 %. */
  readonly speedups: [number, number];
  readonly ages: [number, number];
  private readonly out: Uint8Array;
  private readonly bin: Uint8Array;
  private readonly binEnds: [number, number];
  private readonly last: Partial<Record<keyof Filters, string>> = {};
  private texts: string[] | null = null;
  private places: Map<string, number> | null = null;
  private tree: KDBush | null = null;

  constructor(readonly document: MapDocument) {
    const { columns } = document;
    const { machines } = document;
    this.machineNames = machines.map(({ id, name }) =>
      machines.some((other) => other.name === name && other.id !== id) ? `${name} (${id.slice(0, 4)})` : name,
    );
    this.count = columns.id.length;
    this.ids = columns.id;
    this.names = columns.name;
    this.x = Float32Array.from(columns.x);
    this.y = Float32Array.from(columns.y);
    this.speedup = Float32Array.from(columns.speedup, (value) => value ?? NaN);
    this.family = Uint16Array.from(columns.family);
    this.machine = Uint16Array.from(columns.machine);
    this.target = Uint8Array.from(columns.target);
    this.created = Float64Array.from(columns.created);
    this.out = new Uint8Array(this.count);
    const known = sorted(Float64Array.from(this.speedup));
    const at = (part: number) => (known.length ? quantile(known, part) : 1);
    this.speedups = [Math.min(at(0.01), 0.9), Math.max(at(0.99), 1.1)];
    this.binEnds = [Math.log(this.speedups[0]), Math.log(this.speedups[1])];
    this.bin = Uint8Array.from(this.speedup, (value) => this.binOf(value));
    let [low, high] = [Infinity, -Infinity];
    for (const time of this.created) {
      if (!Number.isFinite(time)) continue;
      if (time < low) low = time;
      if (time > high) high = time;
    }
    this.ages = low < high ? [low, high] : [low - 1, low + 1];
  }

  private binOf(speedup: number): number {
    const [low, high] = this.binEnds;
    const along = (Math.log(speedup || 1) - low) / (high - low);
    return Math.min(BINS - 1, Math.max(0, Math.floor(along * BINS)));
  }

  /** The speedup at which a bin of the histogram begins. */
  binStart(bin: number): number {
    const [low, high] = this.binEnds;
    return Math.exp(low + ((high - low) * bin) / BINS);
  }

  indexOf(id: string): number | undefined {
    this.places ??= new Map(this.ids.map((one, index) => [one, index]));
    return this.places.get(id);
  }

  passes(index: number): boolean {
    return this.out[index] === 0;
  }

  /** Marks what the filters take out; a filter that is as it was is not gone through again. */
  filter(filters: Filters): void {
    const { document, family, machine, target, speedup } = this;
    const among = (column: Uint16Array | Uint8Array, all: string[], wanted: string[]) => {
      const kept = new Uint8Array(all.length);
      for (const one of wanted) if (all.includes(one)) kept[all.indexOf(one)] = 1;
      return (index: number) => wanted.length === 0 || kept[column[index]!] === 1;
    };
    const apply = (name: keyof Filters, bit: number, test: () => (index: number) => boolean) => {
      const key = JSON.stringify(filters[name]);
      if (this.last[name] === key) return;
      this.last[name] = key;
      const passes = test();
      for (let i = 0; i < this.count; i++) {
        if (passes(i)) this.out[i]! &= ~bit;
        else this.out[i]! |= bit;
      }
    };
    apply("families", FAMILY, () => among(family, document.families, filters.families));
    const machines = document.machines.map(({ id }) => id);
    apply("machines", MACHINE, () => among(machine, machines, filters.machines));
    apply("targets", TARGET, () => among(target, document.targets, filters.targets));
    apply("speedup", SPEEDUP, () => {
      const [low, high] = filters.speedup;
      if (low <= 0 && high === Infinity) return () => true;
      return (index) => speedup[index]! >= low && speedup[index]! <= high;
    });
    apply("search", SEARCH, () => this.finds(filters.search));
  }

  private finds(search: string): (index: number) => boolean {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return () => true;
    const { families } = this.document;
    this.texts ??= this.names.map((name, index) =>
      `${name} ${families[this.family[index]!]} ${this.ids[index]}`.toLowerCase(),
    );
    const texts = this.texts;
    return (index) => words.every((word) => texts[index]!.includes(word));
  }

  counts(): Counts {
    const { document, out, family, machine, target, bin } = this;
    const counts: Counts = {
      family: new Uint32Array(document.families.length),
      machine: new Uint32Array(document.machines.length),
      target: new Uint32Array(document.targets.length),
      speedup: new Uint32Array(BINS),
      all: 0,
    };
    for (let i = 0; i < this.count; i++) {
      const bits = out[i]!;
      if ((bits & ~FAMILY) === 0) counts.family[family[i]!]!++;
      if ((bits & ~MACHINE) === 0) counts.machine[machine[i]!]!++;
      if ((bits & ~TARGET) === 0) counts.target[target[i]!]!++;
      if ((bits & ~SPEEDUP) === 0) counts.speedup[bin[i]!]!++;
      if (bits === 0) counts.all++;
    }
    return counts;
  }

  /** The points that pass, in the document's order; within a polygon, if one is given. */
  chosen(polygon: [number, number][] | null): Uint32Array {
    const found = new Uint32Array(this.count);
    let count = 0;
    if (polygon) {
      const xs = polygon.map(([x]) => x);
      const ys = polygon.map(([, y]) => y);
      const [left, right] = [Math.min(...xs), Math.max(...xs)];
      const [bottom, top] = [Math.min(...ys), Math.max(...ys)];
      for (let i = 0; i < this.count; i++) {
        const [x, y] = [this.x[i]!, this.y[i]!];
        if (this.out[i] !== 0 || x < left || x > right || y < bottom || y > top) continue;
        if (polygonContains(polygon, [x, y])) found[count++] = i;
      }
    } else {
      for (let i = 0; i < this.count; i++) if (this.out[i] === 0) found[count++] = i;
    }
    return found.slice(0, count);
  }

  statistics(points: Uint32Array): Statistics {
    const own = new Float64Array(points.length);
    for (let i = 0; i < points.length; i++) own[i] = this.speedup[points[i]!]!;
    const values = sorted(own);
    let logs = 0;
    for (const value of values) logs += Math.log(value);
    const at = (part: number) => quantile(values, part);
    return {
      count: points.length,
      mean: Math.exp(logs / values.length),
      quartiles: [at(0.25), at(0.5), at(0.75)],
      least: at(0),
      greatest: at(1),
    };
  }

  /** The nearest point that passes within a distance, in the map's units. */
  nearest(x: number, y: number, distance: number): number | null {
    if (!this.tree) {
      this.tree = new KDBush(this.count, 64, Float32Array);
      for (let i = 0; i < this.count; i++) this.tree.add(this.x[i]!, this.y[i]!);
      this.tree.finish();
    }
    let best: number | null = null;
    let least = Infinity;
    for (const index of this.tree.within(x, y, distance)) {
      if (this.out[index] !== 0) continue;
      const away = (this.x[index]! - x) ** 2 + (this.y[index]! - y) ** 2;
      if (away < least) [best, least] = [index, away];
    }
    return best;
  }
}

/** What is selected on the map, in words: its statistics and a table that leads to each record. */
import { scaleLog } from "d3-scale";
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { href } from "../address";
import { Empty } from "../parts/document";
import { sorted, Table, useOrder, type Column } from "../parts/table";
import { count, counted, times } from "../text";
import type { Atlas } from "./atlas";
import { choosePolygon } from "./state";

const PAGE = 50;

export function RecordsPanel(props: {
  atlas: Atlas;
  points: Uint32Array;
  lasso: boolean;
  onHover: (index: number | null) => void;
}): VNode {
  const { atlas, points, lasso } = props;
  const [limit, setLimit] = useState(PAGE);
  const { families } = atlas.document;
  const columns = useMemo<Column<number>[]>(
    () => [
      {
        key: "name",
        label: "Record",
        value: (index) => atlas.names[index]!,
        show: (index) => (
          <a href={href(`record/${atlas.ids[index]}`)} title={atlas.names[index]}>
            {atlas.names[index]}
          </a>
        ),
      },
      {
        key: "speedup",
        label: "Speedup",
        number: true,
        value: (index) => atlas.speedup[index]!,
        show: (index) => times(atlas.speedup[index]),
      },
      { key: "family", label: "Family", value: (index) => families[atlas.family[index]!]! },
    ],
    [atlas],
  );
  const [order] = useOrder("records", "-speedup");
  const first = useMemo(
    () => leading(points, columns, order, limit),
    [points, columns, order?.key, order?.down, limit],
  );
  if (!points.length)
    return (
      <section class="records" aria-label="Records">
        <h2>{lasso ? "Selected" : "Records"}</h2>
        <Empty>Nothing passes: clear a filter{lasso ? " or the selection" : ""}, or search for another word.</Empty>
        {lasso && <ClearSelection />}
      </section>
    );
  return (
    <section class="records" aria-label="Records">
      <h2>
        {lasso ? "Selected" : "Records"} <span class="badge">{count(points.length)}</span>
        {lasso && <ClearSelection />}
      </h2>
      <Summary atlas={atlas} points={points} />
      <Table
        name="records"
        caption={lasso ? "Selected records" : "Records that pass the filters"}
        hideCaption
        columns={columns}
        rows={first}
        rowKey={(index) => atlas.ids[index]!}
        standard="-speedup"
        onRow={props.onHover}
      />
      {points.length > first.length && (
        <button type="button" class="more" onClick={() => setLimit(limit + 4 * PAGE)}>
          {count(first.length)} of {counted(points.length, "record")} listed: list more
        </button>
      )}
    </section>
  );
}

function ClearSelection(): VNode {
  return (
    <button type="button" onClick={() => choosePolygon(null)}>
      Clear selection
    </button>
  );
}

/** The first so many in this order. Sorting 100,000 names for 50 lines would take too long. */
function leading(
  points: Uint32Array,
  columns: Column<number>[],
  order: { key: string; down: boolean } | null,
  limit: number,
): number[] {
  const column = columns.find(({ key }) => key === order?.key);
  if (!column || points.length <= 2000) return sorted([...points], columns, order).slice(0, limit);
  const sign = order!.down ? -1 : 1;
  const compare = (left: number, right: number) => {
    const [a, b] = [column.value(left)!, column.value(right)!];
    if (typeof a === "number" && typeof b === "number") {
      if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
      return sign * (a - b);
    }
    return a < b ? -sign : a > b ? sign : 0;
  };
  let best: number[] = [];
  for (let from = 0; from < points.length; from += 4096) {
    const more = [...points.subarray(from, from + 4096)];
    // Most of what comes later is beyond the last that is kept.
    const last = best.length >= limit ? best.at(-1)! : null;
    best = [...best, ...(last === null ? more : more.filter((index) => compare(index, last) < 0))]
      .sort(compare)
      .slice(0, limit);
  }
  return best;
}

function Summary({ atlas, points }: { atlas: Atlas; points: Uint32Array }): VNode {
  const statistics = useMemo(() => atlas.statistics(points), [atlas, points]);
  const top = useMemo(() => {
    const totals = new Map<number, number>();
    for (const index of points) totals.set(atlas.family[index]!, (totals.get(atlas.family[index]!) ?? 0) + 1);
    return [...totals].sort((a, b) => b[1] - a[1]);
  }, [atlas, points]);
  const { families } = atlas.document;
  return (
    <dl class="summary">
      <div>
        <dt>geometric mean</dt>
        <dd>{times(statistics.mean)}</dd>
      </div>
      <div>
        <dt>median</dt>
        <dd>{times(statistics.quartiles[1])}</dd>
      </div>
      <div>
        <dt>least – greatest</dt>
        <dd>
          {times(statistics.least)} – {times(statistics.greatest)}
        </dd>
      </div>
      <div class="wide">
        <dt>
          quartiles {times(statistics.quartiles[0])} – {times(statistics.quartiles[2])}
        </dt>
        <dd>
          <BoxPlot values={[statistics.least, ...statistics.quartiles, statistics.greatest]} />
        </dd>
      </div>
      <div class="wide">
        <dt>{counted(top.length, "family")}</dt>
        <dd class="small">
          {top
            .slice(0, 3)
            .map(([index, number]) => `${families[index]} ${count(number)}`)
            .join(", ")}
          {top.length > 3 ? ", …" : ""}
        </dd>
      </div>
    </dl>
  );
}

function BoxPlot({ values }: { values: number[] }): VNode | null {
  const [least, low, middle, high, greatest] = values as [number, number, number, number, number];
  if (!(least > 0) || !(greatest > least)) return null;
  const x = scaleLog([least, greatest], [2, 298]);
  return (
    <svg class="boxplot" viewBox="0 0 300 16" preserveAspectRatio="none" aria-hidden="true">
      <line x1={x(least)} x2={x(greatest)} y1="8" y2="8" />
      <rect x={x(low)} width={Math.max(2, x(high) - x(low))} y="3" height="10" />
      <line class="middle" x1={x(middle)} x2={x(middle)} y1="1" y2="15" />
    </svg>
  );
}


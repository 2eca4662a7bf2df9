/** One record: nest and recipe step by step, its C++ before and after, times, roofline, where it comes from. */
import type { VNode } from "preact";
import { href } from "../address";
import type { RecordDocument, Size } from "../documents";
import { Bars } from "../parts/chart";
import { Commands } from "../parts/copy";
import { Empty, useDocument, When } from "../parts/document";
import { Table } from "../parts/table";
import { day, figure, seconds, times } from "../text";
import { RooflineChart } from "./roofline";
import { Stepper } from "./stepper";

export function RecordPage({ id }: { id: string }): VNode {
  const loaded = useDocument<RecordDocument>(`record/${id}`);
  if (!id)
    return (
      <Empty>
        No record is named here: choose one on the <a href={href("map")}>map</a>.
      </Empty>
    );
  return (
    <When loaded={loaded} what="the record">
      {(document) => <Loaded key={document.id} record={document} />}
    </When>
  );
}

function Loaded({ record }: { record: RecordDocument }): VNode {
  const machine = record.machine["cpu"] ?? record.machine["name"] ?? "";
  return (
    <div class="record-page">
      <header class="record-head">
        <h1>{record.name}</h1>
        <p class="facts">
          <span class="big">{times(record.speedup)}</span>
          <span>
            <a href={href("map", { family: record.family })}>{record.family}</a>
          </span>
          <span>{record.target}</span>
          <span>{String(machine)}</span>
          <span>{day(record.created)}</span>
          <code>{record.id}</code>
        </p>
        <Commands commands={record.commands} />
      </header>
      {record.problems?.map((problem) => (
        <p key={problem} class="notice failed" role="alert">
          {problem}
        </p>
      ))}
      <Stepper record={record} />
      <div class="halves">
        <section aria-labelledby="sizes">
          <h2 id="sizes">Speedup at each size</h2>
          <Sizes sizes={record.sizes} />
        </section>
        <section aria-labelledby="roofline">
          <h2 id="roofline">Roofline of the machine</h2>
          {record.roofline?.points.length ? (
            <RooflineChart roofline={record.roofline} />
          ) : (
            <Empty>
              This record does not say how much its machine can do: measure it with <code>loopbook hardware</code> and tune
              again.
            </Empty>
          )}
        </section>
      </div>
      <div class="halves">
        <section aria-labelledby="related">
          <h2 id="related">Related records</h2>
          {record.related.length ? (
            <Table
              name="related"
              caption="Records whose nests are near"
              hideCaption
              rows={record.related}
              rowKey={({ id }) => id}
              columns={[
                {
                  key: "name",
                  label: "Record",
                  value: (row) => row.name,
                  show: (row) => <a href={href(`record/${row.id}`)}>{row.name}</a>,
                },
                { key: "distance", label: "Distance", number: true, value: (row) => row.distance, show: (row) => figure(row.distance) },
                { key: "speedup", label: "Speedup", number: true, value: (row) => row.speedup, show: (row) => times(row.speedup) },
              ]}
            />
          ) : (
            <Empty>Nothing in this book is like it: tune more kernels to fill its neighbourhood.</Empty>
          )}
        </section>
        <section aria-labelledby="provenance">
          <h2 id="provenance">Where it comes from</h2>
          <Facts values={record.provenance} />
          <h3>Machine</h3>
          <Facts values={record.machine} />
        </section>
      </div>
    </div>
  );
}

function sizeName(size: Size): string {
  const sizes = Object.entries(size.sizes).map(([name, value]) => `${name}=${value}`);
  return sizes.join(" ") || size.preset || "as measured";
}

function Sizes({ sizes }: { sizes: Size[] }): VNode {
  if (!sizes.length) return <Empty>Nothing was measured: tune it to know what it gains.</Empty>;
  const machines = [...new Set(sizes.map(({ machine }) => machine).filter(Boolean))];
  const rows = sizes.map((size, index) => ({ ...size, name: sizeName(size), index }));
  return (
    <>
      <p class="aside">{machines.join("; ")}</p>
      <Bars
        label={`Speedup at each size: ${rows.map((row) => `${row.name} ${times(row.speedup)}`).join(", ")}`}
        x="size"
        y={{ label: "speedup, times the time without the recipe", log: true }}
        series={[{ name: "speedup", points: rows.map((row) => [row.preset ?? row.name, row.speedup, times(row.speedup)]) }]}
      />
      <Table
        name="sizes"
        caption="Times at each size"
        hideCaption
        rows={rows}
        rowKey={({ index }) => String(index)}
        columns={[
          { key: "size", label: "Size", value: (row) => row.index, show: (row) => row.name },
          { key: "before", label: "Before", number: true, value: (row) => row.baseline_s, show: (row) => seconds(row.baseline_s) },
          { key: "after", label: "After", number: true, value: (row) => row.optimized_s, show: (row) => seconds(row.optimized_s) },
          { key: "speedup", label: "Speedup", number: true, value: (row) => row.speedup, show: (row) => times(row.speedup) },
        ]}
      />
    </>
  );
}

function shown(value: unknown): string {
  if (value == null || value === "") return "–";
  if (typeof value === "number") return figure(value);
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

function Facts({ values }: { values: Record<string, unknown> }): VNode {
  const entries = Object.entries(values).filter(([, value]) => value != null && value !== "");
  if (!entries.length) return <Empty>The record says nothing of this.</Empty>;
  return (
    <dl class="facts-list">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name.replaceAll("_", " ")}</dt>
          <dd>{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

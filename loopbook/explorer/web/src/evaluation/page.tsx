/** The tables and figures of `loopbook evaluate`. */
import type { VNode } from "preact";
import { choose, useAddress } from "../address";
import type { Cell, EvaluationDocument, EvaluationTable, Figure } from "../documents";
import { Bars, Chart } from "../parts/chart";
import { Commands } from "../parts/copy";
import { Empty, useDocument, When } from "../parts/document";
import { Table } from "../parts/table";
import { count, day, figure, percent, seconds, times } from "../text";

export function EvaluationPage(): VNode {
  const loaded = useDocument<EvaluationDocument>("evaluation");
  return (
    <When loaded={loaded} what="the evaluation">
      {(document) => <Loaded evaluation={document} />}
    </When>
  );
}

function Loaded({ evaluation }: { evaluation: EvaluationDocument }): VNode {
  const { query } = useAddress();
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const { tables, figures, commands } = evaluation;
  return (
    <div class="evaluation-page">
      <header class="row">
        <h1>Evaluation</h1>
        <p class="aside">computed {day(evaluation.generated)}</p>
        <label class="search">
          <span>Rows with</span>
          <input
            type="search"
            placeholder="kernel, way, …"
            value={query.get("q") ?? ""}
            onInput={(event) => choose({ q: event.currentTarget.value }, { replace: true })}
          />
        </label>
      </header>
      <Commands commands={commands} />
      {!tables.length && !figures.length && (
        <Empty>
          {evaluation.problem ?? (
            <>
              Nothing was evaluated yet: run <code>loopbook evaluate -o OUT</code>, then open the explorer again.
            </>
          )}
        </Empty>
      )}
      {figures.length > 0 && (
        <div class="figures">
          {figures.map((one) => (
            <FigureSection key={one.id} figure={one} />
          ))}
        </div>
      )}
      {tables.map((table) => (
        <TableSection key={table.id} table={table} words={words} />
      ))}
    </div>
  );
}

function FigureSection({ figure: shown }: { figure: Figure }): VNode {
  return (
    <section aria-labelledby={`figure-${shown.id}`}>
      <h2 id={`figure-${shown.id}`}>{shown.title}</h2>
      {shown.note && <p class="aside">{shown.note}</p>}
      {shown.kind === "bars" ? (
        <Bars
          label={shown.title}
          x={shown.x.label}
          y={shown.y}
          series={shown.series.map(({ name, points }) => ({
            name,
            points: points.map(([x, y, label]): [string, number, string?] => [String(x), y, label]),
          }))}
        />
      ) : (
        <Chart
          label={shown.title}
          kind={shown.kind}
          x={shown.x}
          y={shown.y}
          diagonal={shown.diagonal}
          height={300}
          series={shown.series.map(({ name, points }) => ({
            name,
            points: points.map(([x, y, label]): [number, number, string?] => [Number(x), y, label]),
          }))}
        />
      )}
    </section>
  );
}

const SHOWN = {
  text: (value: Cell) => (value === null ? "–" : String(value)),
  number: (value: Cell) => figure(value as number | null),
  times: (value: Cell) => times(value as number | null),
  percent: (value: Cell) => percent(value as number | null),
  seconds: (value: Cell) => seconds(value as number | null),
};

function TableSection({ table, words }: { table: EvaluationTable; words: string[] }): VNode {
  const rows = table.rows
    .map((cells, index) => ({ cells, index }))
    .filter(({ cells }) => {
      const text = cells.join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
  return (
    <section aria-labelledby={`table-${table.id}`}>
      <h2 id={`table-${table.id}`}>
        {table.title}{" "}
        <span class="badge">
          {rows.length < table.rows.length ? `${count(rows.length)} of ${count(table.rows.length)}` : count(rows.length)}
        </span>
      </h2>
      {table.note && <p class="aside">{table.note}</p>}
      {rows.length ? (
        <Table
          name={table.id}
          caption={table.title}
          hideCaption
          rows={rows}
          rowKey={({ index }) => String(index)}
          columns={table.columns.map((column, at) => ({
            key: column.key,
            label: column.label,
            number: column.kind !== "text",
            value: (row: { cells: Cell[] }) => row.cells[at],
            show: (row: { cells: Cell[] }) => SHOWN[column.kind](row.cells[at] ?? null),
          }))}
        />
      ) : (
        <Empty>No row has these words: search for others.</Empty>
      )}
    </section>
  );
}

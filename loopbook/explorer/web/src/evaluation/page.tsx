/** What `loopbook evaluate` measured: its tables and figures, to be sorted, narrowed and compared. */
import type { VNode } from "preact";
import { choose, useAddress } from "../address";
import type { EvaluationDocument, EvaluationTable, Figure } from "../documents";
import { Commands } from "../parts/copy";
import { Empty, useDocument, When } from "../parts/document";
import { Table, type Column } from "../parts/table";
import { figure, percent, seconds, times } from "../text";
import { Drawing } from "./drawing";
import { narrowed, narrowedFigure, type Row } from "./narrow";
import "./page.css";

export function Page(): VNode {
  const loaded = useDocument<EvaluationDocument>("evaluation");
  return (
    <div class="evaluation-page">
      <h1>Evaluation</h1>
      <When loaded={loaded} what="the evaluation">
        {(document) => <Loaded document={document} />}
      </When>
    </div>
  );
}

function Loaded({ document }: { document: EvaluationDocument }): VNode {
  const { query } = useAddress();
  const words = query.get("q") ?? "";
  const wanted = query.get("show") ?? "";
  const all = [...document.figures, ...document.tables];
  if (!all.length)
    return (
      <>
        <Empty>{document.problem ?? "Nothing has been evaluated here yet."}</Empty>
        <Commands commands={document.commands} />
      </>
    );
  // An address may name a part that a later evaluation no longer has.
  const only = all.some(({ id }) => id === wanted) ? wanted : "";
  const shown = ({ id }: { id: string }) => only === "" || id === only;
  return (
    <>
      {document.problem && <p class="notice">{document.problem}</p>}
      <form class="evaluation-tools" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          Show{" "}
          <select value={only} onChange={(event) => choose({ show: event.currentTarget.value })}>
            <option value="">everything</option>
            <Titles label="Figures" parts={document.figures} />
            <Titles label="Tables" parts={document.tables} />
          </select>
        </label>
        <label>
          Only rows with{" "}
          <input
            type="search"
            value={words}
            placeholder="gemm openmp"
            onInput={(event) => choose({ q: event.currentTarget.value }, { replace: true })}
          />
        </label>
      </form>
      {document.figures.filter(shown).map((one) => (
        <FigurePart key={one.id} figure={narrowedFigure(one, words)} />
      ))}
      {document.tables.filter(shown).map((one) => (
        <TablePart key={one.id} table={one} rows={narrowed(one, words)} />
      ))}
      <Commands commands={document.commands} />
    </>
  );
}

function Titles(props: { label: string; parts: { id: string; title: string }[] }): VNode | null {
  if (!props.parts.length) return null;
  return (
    <optgroup label={props.label}>
      {props.parts.map(({ id, title }) => (
        <option key={id} value={id}>
          {title}
        </option>
      ))}
    </optgroup>
  );
}

function FigurePart({ figure }: { figure: Figure }): VNode {
  return (
    <section class="evaluation-part">
      <h2>{figure.title}</h2>
      {figure.note && <p class="note">{figure.note}</p>}
      {figure.series.some(({ points }) => points.length) ? (
        <Drawing figure={figure} />
      ) : (
        <Empty>No point has these words: search for fewer.</Empty>
      )}
    </section>
  );
}

function TablePart({ table, rows }: { table: EvaluationTable; rows: Row[] }): VNode {
  return (
    <section class="evaluation-part">
      <h2>{table.title}</h2>
      {table.note && <p class="note">{table.note}</p>}
      {rows.length ? (
        <Table
          name={table.id}
          caption={table.title}
          hideCaption
          columns={columns(table)}
          rows={rows}
          rowKey={({ index }) => String(index)}
        />
      ) : (
        <Empty>{table.rows.length ? "No row has these words: search for fewer." : "This table has no rows."}</Empty>
      )}
    </section>
  );
}

function columns(table: EvaluationTable): Column<Row>[] {
  return table.columns.map(({ key, label, kind }, at) => ({
    key,
    label,
    number: kind !== "text",
    value: ({ cells }) => cells[at],
    show: ({ cells }) => {
      const cell = cells[at];
      if (cell == null) return "–";
      if (typeof cell === "boolean") return cell ? "yes" : "no";
      if (typeof cell === "string" || kind === "text") return String(cell);
      return { times, percent, seconds, number: figure }[kind](cell);
    },
  }));
}

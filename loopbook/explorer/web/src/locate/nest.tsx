/** One nest of the pasted code: what is done with it and why, and why not what its neighbours have. */
import type { VNode } from "preact";
import { href } from "../address";
import type { LocatedNest, LocateNeighbour } from "../documents";
import { Code } from "../parts/code";
import { Empty } from "../parts/document";
import { Table, type Column } from "../parts/table";
import { figure, times } from "../text";

const TIERS: Record<string, string> = {
  exact: "The very nest is in the book",
  neighbour: "A neighbour's recipe is taken",
  library: "It becomes a library call",
  order: "Its loops are put in memory order",
  none: "No recipe is taken",
};

export function Nest(props: {
  nest: LocatedNest;
  number: number;
  /** Whether the map shows this one. */
  chosen: boolean;
  onChoose?: () => void;
}): VNode {
  const { nest, number } = props;
  const { decision } = nest;
  const name = nest.name ?? `Nest ${number}`;
  return (
    <section class="locate-nest">
      <h2>
        {name}
        {props.onChoose && (
          <button type="button" aria-pressed={props.chosen} aria-label={`Show ${name} on the map`} onClick={props.onChoose}>
            Show on the map
          </button>
        )}
      </h2>
      <div class="locate-decision">
        <Code code={nest.loops} language="text" label={`The loops of ${name}`} />
        <div>
          <p>
            <strong>{TIERS[decision.tier] ?? decision.tier}</strong>
            {decision.record && (
              <>
                {decision.tier === "none" ? "; tried: " : ": "}
                <a href={href(`record/${decision.record}`)}>record {decision.record.slice(0, 12)}</a>
              </>
            )}
          </p>
          <p>{decision.why}</p>
        </div>
      </div>
      {nest.neighbours.length ? (
        <Table
          name={`nest${number}`}
          caption={`Neighbours of ${name}, the nearest first`}
          columns={COLUMNS}
          rows={nest.neighbours}
          rowKey={({ record }) => record}
          rowClass={({ taken }) => (taken ? "taken" : "declined")}
        />
      ) : (
        <Empty>It has no neighbour in this book for this target: tune it with <code>loopbook tune FILE</code>.</Empty>
      )}
    </section>
  );
}

const COLUMNS: Column<LocateNeighbour>[] = [
  {
    key: "name",
    label: "Neighbour",
    value: ({ name }) => name,
    show: ({ name, record }) => <a href={href(`record/${record}`)}>{name}</a>,
  },
  { key: "distance", label: "Distance", number: true, value: ({ distance }) => distance, show: ({ distance }) => figure(distance) },
  {
    key: "expected",
    label: "Expected gain",
    number: true,
    value: ({ expected }) => expected?.mid,
    show: ({ expected }) => (expected ? <Expected {...expected} /> : "–"),
  },
  { key: "why", label: "Taken or declined", value: ({ why }) => why, show: (one) => <Why neighbour={one} /> },
];

function Expected({ low, mid, high }: NonNullable<LocateNeighbour["expected"]>): VNode {
  return (
    <>
      {times(mid)}
      <span class="interval">
        {times(low)} to {times(high)}
      </span>
    </>
  );
}

function Why({ neighbour }: { neighbour: LocateNeighbour }): VNode {
  const { why, refused, recipe, name } = neighbour;
  return (
    <>
      <p class="why">{why}</p>
      {refused.length > 0 && (
        <ul class="refused" aria-label={`Refused steps of ${name}`}>
          {refused.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ul>
      )}
      {recipe.length > 0 && (
        <details>
          <summary>Recipe</summary>
          <pre>{recipe.join("\n")}</pre>
        </details>
      )}
    </>
  );
}

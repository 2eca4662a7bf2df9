/** Searches of the tuner: the best speedup so far over trials, and how many trials failed. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Search } from "../documents";
import { Chart } from "../parts/chart";
import { Empty } from "../parts/document";
import { count, counted, times } from "../text";

/** A chart takes room; the rest come when they are asked for. */
const FIRST = 6;

export function Searches({ searches }: { searches: Search[] }): VNode {
  const [all, setAll] = useState(false);
  // Those that run come first, each group in the server's order: the latest first.
  const ordered = [...searches].sort((a, b) => Number(b.state === "running") - Number(a.state === "running"));
  const shown = all ? ordered : ordered.slice(0, FIRST);
  return (
    <section>
      <h2>
        Searches <span class="badge">{count(searches.length)}</span>
      </h2>
      {!searches.length && (
        <Empty>
          No search has left a log yet: start one with <code>loopbook tune FILE</code>.
        </Empty>
      )}
      <div class="live-searches">
        {shown.map((search) => (
          <One key={search.id} search={search} />
        ))}
      </div>
      {shown.length < ordered.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          Show all {count(ordered.length)} searches
        </button>
      )}
    </section>
  );
}

function One({ search }: { search: Search }): VNode {
  const { name, target, state, trials, failures, best } = search;
  const last = best.at(-1);
  const words = [
    state,
    counted(trials, "trial"),
    failures ? `${count(failures)} failed` : "none failed",
    last ? `best ${times(last[1])}` : "nothing ran yet",
  ].join(", ");
  return (
    <article class={`live-search ${state}`}>
      <h3>
        {name} <span class="target">{target}</span>
      </h3>
      <p>{words}</p>
      {last && (
        <Chart
          label={`Best speedup over trials of ${name} ${target}: ${words}`}
          kind="lines"
          steps
          height={180}
          x={{ label: "trial", domain: [0, Math.max(trials, last[0], 1)] }}
          y={{ label: "best speedup" }}
          // The best holds until the last trial.
          series={[{ name: "best speedup", points: trials > last[0] ? [...best, [trials, last[1]]] : best }]}
        />
      )}
    </article>
  );
}

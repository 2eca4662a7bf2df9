/** What the machine is doing: searches, the queue, workers, misses, last events, as they change. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { choose, href, useAddress } from "../address";
import type { LiveDocument, Search } from "../documents";
import { Chart } from "../parts/chart";
import { Empty, useDocument, When } from "../parts/document";
import { Table } from "../parts/table";
import { ago, count, moment, times } from "../text";
import { parsed } from "../source";
import { follow } from "./stream";

export function LivePage(): VNode {
  const loaded = useDocument<LiveDocument>("live");
  return (
    <When loaded={loaded} what="what the machine is doing">
      {(document) => <Following first={document} />}
    </When>
  );
}

function Following({ first }: { first: LiveDocument }): VNode {
  const [live, setLive] = useState(first);
  const [connected, setConnected] = useState(false);
  const [heard, setHeard] = useState(0);
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    const controller = new AbortController();
    void follow(
      "live/events",
      controller.signal,
      ({ event, data }) => {
        setLive((before) => ({ ...before, [event]: parsed(data) }));
        setHeard((number) => number + 1);
      },
      setConnected,
    );
    const tick = setInterval(() => setNow(Date.now() / 1000), 5000);
    return () => {
      controller.abort();
      clearInterval(tick);
    };
  }, []);
  return (
    <div class="live-page" data-heard={heard}>
      <header class="row">
        <h1>Search and farm, live</h1>
        <p class={`connection ${connected ? "on" : "off"}`} role="status">
          {connected ? "Connected: changes appear as they happen." : "Not connected: trying again…"}
        </p>
      </header>
      <Numbers live={live} />
      <Searches searches={live.searches} />
      <div class="halves">
        <Tasks live={live} now={now} />
        <Workers live={live} now={now} />
      </div>
      <div class="halves">
        <Misses live={live} />
        <Events live={live} now={now} />
      </div>
    </div>
  );
}

function Numbers({ live }: { live: LiveDocument }): VNode {
  const numbers: [string, number][] = [
    ...Object.entries(live.queue).map(([state, number]): [string, number] => [`tasks ${state}`, number]),
    ["workers busy", live.workers.filter(({ state }) => state === "busy").length],
    ["misses open", live.misses.open],
    ["misses tuned", live.misses.done],
  ];
  return (
    <dl class="numbers-row" aria-label="Numbers">
      {numbers.map(([name, number]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{count(number)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Searches({ searches }: { searches: Search[] }): VNode {
  const { query } = useAddress();
  const wanted = query.get("search");
  const search = searches.find(({ id }) => id === wanted) ?? searches[0];
  return (
    <section aria-labelledby="searches">
      <h2 id="searches">Searches</h2>
      {!search ? (
        <Empty>
          No search runs: start one with <code>loopbook tune FILE</code>, or let a worker take what is missing with{" "}
          <code>loopbook farm start</code>.
        </Empty>
      ) : (
        <div class="search-body">
          <Table
            name="searches"
            caption="Searches"
            hideCaption
            rows={searches}
            rowKey={({ id }) => id}
            rowClass={({ id }) => (id === search.id ? "taken" : undefined)}
            columns={[
              {
                key: "name",
                label: "Search",
                value: (row) => row.name,
                show: (row) => (
                  <button
                    type="button"
                    class="as-link"
                    aria-pressed={row.id === search.id}
                    onClick={() => choose({ search: row.id }, { replace: true })}
                  >
                    {row.name}
                  </button>
                ),
              },
              { key: "target", label: "Target", value: (row) => row.target },
              { key: "state", label: "State", value: (row) => row.state },
              { key: "trials", label: "Trials", number: true, value: (row) => row.trials },
              { key: "failures", label: "Failures", number: true, value: (row) => row.failures },
              {
                key: "best",
                label: "Best",
                number: true,
                value: (row) => row.best.at(-1)?.[1],
                show: (row) => times(row.best.at(-1)?.[1]),
              },
            ]}
          />
          {search.best.length ? (
            <Chart
              kind="lines"
              steps
              label={`Best speedup of ${search.name} over ${search.trials} trials: ${times(search.best.at(-1)?.[1])}; ${search.failures} failed`}
              x={{ label: `trial (${count(search.failures)} of ${count(search.trials)} failed)`, domain: [0, Math.max(1, search.trials)] }}
              y={{ label: "best speedup" }}
              series={[
                {
                  name: search.name,
                  points: [...search.best, [search.trials, search.best.at(-1)![1]]],
                },
              ]}
            />
          ) : (
            <Empty>Nothing faster was found yet: trials appear here as they end.</Empty>
          )}
        </div>
      )}
    </section>
  );
}

function Tasks({ live, now }: { live: LiveDocument; now: number }): VNode {
  return (
    <section aria-labelledby="tasks">
      <h2 id="tasks">Queue</h2>
      {live.tasks.length ? (
        <Table
          name="tasks"
          caption="Tasks of the queue"
          hideCaption
          rows={live.tasks}
          rowKey={({ id }) => id}
          columns={[
            { key: "name", label: "Task", value: (row) => row.name },
            { key: "kind", label: "Kind", value: (row) => row.kind },
            { key: "state", label: "State", value: (row) => row.state, show: (row) => (row.error ? `${row.state}: ${row.error}` : row.state) },
            { key: "worker", label: "Worker", value: (row) => row.worker, show: (row) => row.worker ?? "–" },
            { key: "since", label: "Since", value: (row) => row.since, show: (row) => ago(row.since, now) },
          ]}
        />
      ) : (
        <Empty>
          The queue is empty: what programs ask for in vain comes here by itself.
        </Empty>
      )}
    </section>
  );
}

function Workers({ live, now }: { live: LiveDocument; now: number }): VNode {
  return (
    <section aria-labelledby="workers">
      <h2 id="workers">Workers</h2>
      {live.workers.length ? (
        <Table
          name="workers"
          caption="Workers"
          hideCaption
          rows={live.workers}
          rowKey={({ name }) => name}
          columns={[
            { key: "name", label: "Worker", value: (row) => row.name },
            { key: "machine", label: "Machine", value: (row) => row.machine },
            { key: "state", label: "State", value: (row) => row.state },
            { key: "task", label: "Task", value: (row) => row.task, show: (row) => row.task ?? "–" },
            { key: "seen", label: "Seen", value: (row) => row.seen, show: (row) => ago(row.seen, now) },
          ]}
        />
      ) : (
        <Empty>
          No worker has been here: start one with <code>loopbook farm start</code> on a machine that may measure.
        </Empty>
      )}
    </section>
  );
}

function Misses({ live }: { live: LiveDocument }): VNode {
  return (
    <section aria-labelledby="misses">
      <h2 id="misses">Misses</h2>
      {live.misses.latest.length ? (
        <Table
          name="misses"
          caption="What was asked for in vain"
          hideCaption
          rows={live.misses.latest}
          rowKey={({ id }) => id}
          columns={[
            {
              key: "name",
              label: "Nest",
              value: (row) => row.name,
              show: (row) => (row.record ? <a href={href(`record/${row.record}`)}>{row.name}</a> : row.name),
            },
            { key: "asked", label: "Asked", number: true, value: (row) => row.asked, show: (row) => count(row.asked) },
            { key: "state", label: "State", value: (row) => row.state },
          ]}
        />
      ) : (
        <Empty>Nothing was asked for in vain: misses appear here when a program finds no recipe.</Empty>
      )}
    </section>
  );
}

function Events({ live, now }: { live: LiveDocument; now: number }): VNode {
  return (
    <section aria-labelledby="events">
      <h2 id="events">Last events</h2>
      {live.events.length ? (
        <ol class="events" tabIndex={0} aria-label="Last events, newest first">
          {live.events.map((event, index) => (
            <li key={`${event.time} ${index}`}>
              <time>{moment(event.time, now)}</time>
              <span class="kind">{event.kind}</span>
              <span>
                {event.record ? <a href={href(`record/${event.record}`)}>{event.text}</a> : event.text}
              </span>
            </li>
          ))}
        </ol>
      ) : (
        <Empty>Nothing has happened yet: events appear here as they come.</Empty>
      )}
    </section>
  );
}

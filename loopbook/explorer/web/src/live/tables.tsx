/** Tasks, workers, misses and events as tables. States are words, so that no colour is needed. */
import type { ComponentChildren, VNode } from "preact";
import { href } from "../address";
import type { LiveDocument } from "../documents";
import { Empty } from "../parts/document";
import { Table, type Column } from "../parts/table";
import { ago, clock, count, day } from "../text";

type Task = LiveDocument["tasks"][number] & { error?: string };
type Worker = LiveDocument["workers"][number];
type Miss = LiveDocument["misses"]["latest"][number];
type Event = LiveDocument["events"][number];

function Listed<Row>(props: {
  title: string;
  badge?: string;
  name: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  /** What is said where there are no rows. */
  empty: ComponentChildren;
}): VNode {
  const { title, badge, empty, ...table } = props;
  return (
    <section>
      <h2>
        {title} {badge !== undefined && <span class="badge">{badge}</span>}
      </h2>
      {props.rows.length ? <Table {...table} caption={title} hideCaption /> : <Empty>{empty}</Empty>}
    </section>
  );
}

function linked(record: string | null, words: string): ComponentChildren {
  return record ? <a href={href(`record/${record}`)}>{words}</a> : words;
}

function State({ state }: { state: string }): VNode {
  return <span class={`state ${state}`}>{state}</span>;
}

export function Tasks({ tasks, now }: { tasks: Task[]; now: number }): VNode {
  const columns: Column<Task>[] = [
    { key: "name", label: "Task", value: ({ name }) => name },
    { key: "kind", label: "Kind", value: ({ kind }) => kind },
    { key: "state", label: "State", value: ({ state }) => state, show: ({ state }) => <State state={state} /> },
    { key: "worker", label: "Worker", value: ({ worker }) => worker, show: ({ worker }) => worker ?? "–" },
    { key: "since", label: "Since", number: true, value: ({ since }) => since, show: ({ since }) => ago(since, now) },
    { key: "error", label: "Error", value: ({ error }) => error || null, show: ({ error }) => error || "–" },
  ];
  return (
    <Listed
      title="Tasks"
      name="tasks"
      columns={columns}
      rows={tasks}
      rowKey={({ id }) => id}
      empty="The queue is empty: misses become tasks when the server's farm is on."
    />
  );
}

export function Workers({ workers, now }: { workers: Worker[]; now: number }): VNode {
  const columns: Column<Worker>[] = [
    { key: "name", label: "Worker", value: ({ name }) => name },
    { key: "state", label: "State", value: ({ state }) => state, show: ({ state }) => <State state={state} /> },
    { key: "task", label: "Task", value: ({ task }) => task, show: ({ task }) => task ?? "–" },
    { key: "machine", label: "Machine", value: ({ machine }) => machine },
    { key: "seen", label: "Seen", number: true, value: ({ seen }) => seen, show: ({ seen }) => ago(seen, now) },
  ];
  return (
    <Listed
      title="Workers"
      badge={count(workers.length)}
      name="workers"
      columns={columns}
      rows={workers}
      rowKey={({ name }) => name}
      empty="No worker has had a task lately."
    />
  );
}

const MISSES: Column<Miss>[] = [
  { key: "name", label: "Nest", value: ({ name }) => name, show: ({ name, record }) => linked(record, name) },
  { key: "asked", label: "Asked for", number: true, value: ({ asked }) => asked, show: ({ asked }) => count(asked) },
  { key: "state", label: "State", value: ({ state }) => state, show: ({ state }) => <State state={state} /> },
];

export function Misses({ misses }: { misses: LiveDocument["misses"] }): VNode {
  return (
    <Listed
      title="Misses"
      badge={`${count(misses.open)} open, ${count(misses.done)} done`}
      name="misses"
      columns={MISSES}
      rows={misses.latest}
      rowKey={({ id }) => id}
      empty="Nothing was asked for in vain."
    />
  );
}

export function Events({ events, now }: { events: Event[]; now: number }): VNode {
  const columns: Column<Event>[] = [
    { key: "text", label: "What happened", value: ({ text }) => text, show: ({ text, record }) => linked(record, text) },
    { key: "kind", label: "Kind", value: ({ kind }) => kind },
    {
      key: "time",
      label: "When",
      number: true,
      value: ({ time }) => time,
      show: ({ time }) => (now - time < 86400 ? clock(time) : day(time)),
    },
  ];
  return (
    // Only new rows are read aloud, and only when nothing else is.
    <div aria-live="polite" aria-relevant="additions">
      <Listed
        title="Events"
        name="events"
        columns={columns}
        rows={events}
        rowKey={({ time, kind, text, record }) => `${time} ${kind} ${record} ${text}`}
        empty="Nothing has happened yet."
      />
    </div>
  );
}

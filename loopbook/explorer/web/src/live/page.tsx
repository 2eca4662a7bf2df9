/** What tunes and what waits, as it happens: searches, queue, workers, misses, events. */
import type { VNode } from "preact";
import type { LiveDocument } from "../documents";
import { useDocument, When } from "../parts/document";
import { count } from "../text";
import { useLive, useNow, type Connection } from "./follow";
import { Searches } from "./searches";
import { Events, Misses, Tasks, Workers } from "./tables";
import "./page.css";

export function Page(): VNode {
  const loaded = useDocument<LiveDocument>("live");
  return (
    <div class="live-page">
      <h1>Live</h1>
      <When loaded={loaded} what="what is going on">
        {(document) => <Loaded first={document} />}
      </When>
    </div>
  );
}

function Loaded({ first }: { first: LiveDocument }): VNode {
  const { document, connection } = useLive(first);
  const now = useNow(5);
  return (
    <>
      <Connected connection={connection} />
      <section>
        <h2>Queue</h2>
        <dl class="summary">
          {Object.entries(document.queue).map(([state, number]) => (
            <div key={state}>
              <dt>{state}</dt>
              <dd>{count(number)}</dd>
            </div>
          ))}
        </dl>
      </section>
      <Searches searches={document.searches} />
      <Tasks tasks={document.tasks} now={now} />
      <Workers workers={document.workers} now={now} />
      <Misses misses={document.misses} />
      <Events events={document.events} now={now} />
    </>
  );
}

function Connected({ connection }: { connection: Connection }): VNode {
  return (
    <p class={`live-connection ${connection.state}`} role="status">
      {connection.state === "connected" && "Connected: changes appear by themselves."}
      {connection.state === "connecting" && "Connecting…"}
      {connection.state === "lost" &&
        `${connection.why} What is shown may be old; trying again in ${connection.wait} s.`}
    </p>
  );
}

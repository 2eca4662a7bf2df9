/** The live document, kept as it is on the server, through lost connections. */
import { useEffect, useState } from "preact/hooks";
import type { LiveDocument } from "../documents";
import { Problem } from "../source";
import { streamed } from "./events";

export type Connection =
  | { state: "connecting" }
  | { state: "connected" }
  | { state: "lost"; why: string; wait: number };

const LONGEST_WAIT_S = 15;

export function useLive(first: LiveDocument): { document: LiveDocument; connection: Connection } {
  const [document, setDocument] = useState(first);
  const [connection, setConnection] = useState<Connection>({ state: "connecting" });
  useEffect(() => {
    setDocument(first);
    const stopped = new AbortController();
    void follow(stopped.signal, setConnection, (part) => setDocument((now) => ({ ...now, ...part })));
    return () => stopped.abort();
  }, [first]);
  return { document, connection };
}

async function follow(
  signal: AbortSignal,
  say: (connection: Connection) => void,
  change: (part: Partial<LiveDocument>) => void,
): Promise<void> {
  for (let wait = 1; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_S)) {
    let why = "The connection to the server was lost.";
    try {
      for await (const { name, data } of streamed("live/events", signal)) {
        if (signal.aborted) return;
        wait = 1;
        say({ state: "connected" });
        change({ [name]: JSON.parse(data) as unknown });
      }
    } catch (cause) {
      if (cause instanceof Problem) why = cause.message;
    }
    if (signal.aborted) return;
    say({ state: "lost", why, wait });
    await pause(wait, signal);
  }
}

/** Waits, but not for a page that is gone. */
function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const later = setTimeout(done, 1000 * seconds);
    signal.addEventListener("abort", () => (clearTimeout(later), done()), { once: true });
  });
}

/** Unix seconds, so that "3 min ago" stays true while nothing else changes. */
export function useNow(everySeconds: number): number {
  const [now, set] = useState(() => Date.now() / 1000);
  useEffect(() => {
    const clock = setInterval(() => set(Date.now() / 1000), 1000 * everySeconds);
    return () => clearInterval(clock);
  }, [everySeconds]);
  return now;
}

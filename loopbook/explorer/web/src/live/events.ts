/**
 * Server-sent events, read from a response's body: the browser's own EventSource sends no headers,
 * and with them no token.
 */
import { ask, Problem } from "../source";

export interface ServerEvent {
  name: string;
  data: string;
}

/** After so long without even a comment the connection is taken for lost; the server says something every 15 s. */
const SILENCE_MS = 45_000;

/** The events of a stream until it ends; fails if it breaks off or falls silent. */
export async function* streamed(path: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const own = new AbortController();
  const stop = () => own.abort();
  signal.addEventListener("abort", stop, { once: true });
  let watchdog = setTimeout(stop, SILENCE_MS);
  try {
    const response = await ask(path, { signal: own.signal, headers: { Accept: "text/event-stream" } });
    if (!response.body) throw new Problem("The server sent no events.");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new Parser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(watchdog);
      watchdog = setTimeout(stop, SILENCE_MS);
      yield* parser.push(value);
    }
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener("abort", stop);
    own.abort(); // whoever stops listening lets the connection go
  }
}

/** Events of the text so far. Format: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export class Parser {
  private rest = "";
  private name = "";
  private data: string[] = [];

  *push(text: string): Generator<ServerEvent> {
    // A "\r" at the end may be the first half of a line's end.
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") {
        if (this.data.length) yield { name: this.name || "message", data: this.data.join("\n") };
        [this.name, this.data] = ["", []];
        continue;
      }
      const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
      if (field === "event") this.name = value;
      else if (field === "data") this.data.push(value);
    }
  }
}

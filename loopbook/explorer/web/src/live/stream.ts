/** Server-sent events over fetch, which can send a token; EventSource cannot. */
import { ask } from "../source";

export interface ServerEvent {
  event: string;
  data: string;
}

/** The events of a stream of bytes. */
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  let event = "message";
  let data: string[] = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r\n|\n|\r/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") {
        if (data.length) yield { event, data: data.join("\n") };
        [event, data] = ["message", []];
      } else if (line.startsWith("event:")) event = line.slice(6).trim();
      else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
    }
  }
}

/** Follows a stream of events until told to stop, and connects anew when it breaks. */
export async function follow(
  path: string,
  signal: AbortSignal,
  hear: (event: ServerEvent) => void,
  connected: (yes: boolean) => void,
): Promise<void> {
  let pause = 1000;
  while (!signal.aborted) {
    try {
      const response = await ask(path, { signal, headers: { Accept: "text/event-stream" } });
      connected(true);
      pause = 1000;
      for await (const event of events(response.body!)) hear(event);
    } catch {
      if (signal.aborted) return;
    }
    connected(false);
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(30_000, pause * 2);
  }
}

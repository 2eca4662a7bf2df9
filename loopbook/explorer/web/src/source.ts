/** Where documents come from: the server that sent the page, or the report that holds them. */
import type { ReportData } from "./documents";

/** What went wrong, in a sentence that says what to do. */
export class Problem extends Error {
  constructor(
    message: string,
    readonly status = 0,
  ) {
    super(message);
  }
}

/**
 * A document from its text. Characters that turn the direction of writing or are not seen are
 * written out: with them a stranger's name for a record could make another of what stands beside it.
 */
export function parsed(text: string): unknown {
  const hidden = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  const plain = text.replace(hidden, (one) => `\\\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return JSON.parse(plain);
}

const embedded = document.getElementById("loopbook-data");

/** The documents in this file, if it is a static report. */
export const report: ReportData | null = embedded
  ? (parsed(embedded.textContent ?? "null") as ReportData)
  : null;

const TOKEN = "loopbook-token";

const waiting = new Set<() => void>();

/** Sends this token from now on; what was refused for want of one is asked for again. */
export function keepToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
  for (const again of [...waiting]) again();
}

/** Has something done once there is another token; returns what takes that back. */
export function onToken(again: () => void): () => void {
  waiting.add(again);
  return () => void waiting.delete(again);
}

/** What the server answers under `path`, which is relative to where the explorer is mounted. */
export async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = new Headers(options.headers);
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.set("Authorization", `Bearer ${token}`);
  let response: Response;
  try {
    response = await fetch(new URL(path, document.baseURI), { ...options, headers });
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    throw new Problem(
      "The server does not answer. See whether the command that opened this page still runs, then try again.",
    );
  }
  // Another token may have been given while this one was on its way.
  if (response.status === 401 && sessionStorage.getItem(TOKEN) !== token) return ask(path, options);
  if (!response.ok) throw new Problem(await sentence(response), response.status);
  return response;
}

async function sentence(response: Response): Promise<string> {
  try {
    const { detail, error } = (await response.json()) as { detail?: unknown; error?: unknown };
    const said = detail ?? error; // `error` where a server refuses before the explorer is reached
    if (typeof said === "string") return upper(said);
  } catch {
    // Not JSON: a proxy's page, say.
  }
  if (response.status === 401) return "This server wants a token: paste yours.";
  if (response.status === 404) return "There is nothing at this address: go back to the map and search for it.";
  return `The server answered ${response.status}. Try again; its log says more.`;
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The document with this name: `map`, `about`, `record/ID`, `evaluation`, `live`. */
export async function load<T>(name: string): Promise<T> {
  if (report) return fromReport(report, name) as T;
  const response = await ask(`${name}.json`);
  return parsed(await response.text()) as T;
}

function fromReport(data: ReportData, name: string): unknown {
  if (name.startsWith("record/")) {
    const found = data.records[name.slice("record/".length)];
    if (found) return found;
    throw new Problem(
      "This report does not hold that record: open the explorer with 'loopbook ui' to see all records.",
      404,
    );
  }
  const found = data[name as "about" | "map" | "evaluation"];
  if (found) return found;
  throw new Problem(`This report has no such page: open the explorer with 'loopbook ui' to see it.`, 404);
}

/** The page's answer to a question, as a document. */
export async function post<T>(name: string, body: unknown, signal: AbortSignal): Promise<T> {
  const response = await ask(`${name}.json`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  return parsed(await response.text()) as T;
}

/** Code with its colours, and two states of it side by side with what changed. */
import { diffArrays } from "diff";
import hljs from "highlight.js/lib/core";
import cpp from "highlight.js/lib/languages/cpp";
import python from "highlight.js/lib/languages/python";
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

hljs.registerLanguage("cpp", cpp);
hljs.registerLanguage("python", python);

export type Language = "cpp" | "python" | "text";

const LINES = 2000;

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The lines of coloured HTML: a span that goes over a line's end is closed there and opened anew. */
export function coloured(code: string, language: Language): string[] {
  const html = language === "text" ? escaped(code) : hljs.highlight(code, { language }).value;
  const open: string[] = [];
  return html.split("\n").map((line) => {
    const before = open.join("");
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g)) {
      if (tag === "</span>") open.pop();
      else open.push(tag);
    }
    return before + line + "</span>".repeat(open.length);
  });
}

export function Code({ code, language, label }: { code: string; language: Language; label: string }): VNode {
  const lines = useMemo(() => coloured(code.replace(/\n$/, ""), language).slice(0, LINES), [code, language]);
  return (
    <pre class="code" role="region" tabIndex={0} aria-label={label}>
      {lines.map((line, index) => (
        <span key={index} class="line" dangerouslySetInnerHTML={{ __html: `${line}\n` }} />
      ))}
    </pre>
  );
}

interface Side {
  number: number;
  html: string;
}

interface Pair {
  before: Side | null;
  after: Side | null;
  changed: boolean;
}

/** Lines that belong together; white space at a line's end is not a change. */
export function pairs(before: string, after: string, language: Language): Pair[] {
  const texts = [before, after].map((text) => text.replace(/\n$/, "").split("\n").slice(0, LINES));
  const htmls = texts.map((lines) => coloured(lines.join("\n"), language));
  const [left, right] = texts.map((lines) => lines.map((line) => line.trimEnd()));
  const found: Pair[] = [];
  let [a, b] = [0, 0];
  const side = (which: 0 | 1, index: number): Side => ({ number: index + 1, html: htmls[which]![index] ?? "" });
  const parts = diffArrays(left!, right!);
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!;
    if (!part.added && !part.removed) {
      for (let i = 0; i < part.value.length; i++)
        found.push({ before: side(0, a++), after: side(1, b++), changed: false });
      continue;
    }
    // What was taken out stands beside what came in its place.
    const next = parts[at + 1];
    const replaced = part.removed && next?.added ? next : null;
    const gone = part.removed ? part.value.length : 0;
    const come = part.added ? part.value.length : (replaced?.value.length ?? 0);
    for (let i = 0; i < Math.max(gone, come); i++)
      found.push({
        before: i < gone ? side(0, a++) : null,
        after: i < come ? side(1, b++) : null,
        changed: true,
      });
    if (replaced) at++;
  }
  return found;
}

/** Leaves out long stretches in which nothing changed; null stands for what is left out. */
function folded(all: Pair[], context: number): (Pair | null)[] {
  const near = new Uint8Array(all.length);
  all.forEach((pair, index) => {
    if (pair.changed) near.fill(1, Math.max(0, index - context), index + context + 1);
  });
  const kept: (Pair | null)[] = [];
  all.forEach((pair, index) => {
    if (near[index]) kept.push(pair);
    else if (kept.at(-1) !== null) kept.push(null);
  });
  return kept;
}

export function SideBySide(props: {
  before: string;
  after: string;
  language: Language;
  titles: [string, string];
  label: string;
  /** Lines around what changed; all if there is none. */
  context?: number;
}): VNode {
  const { before, after, language, context } = props;
  const all = useMemo(() => pairs(before, after, language), [before, after, language]);
  const changes = all.filter((pair) => pair.changed).length;
  const rows = context === undefined || changes === 0 ? all : folded(all, context);
  return (
    <div class="diff" role="region" tabIndex={0} aria-label={props.label}>
      <table>
        <caption class="unseen">
          {props.label}: {changes === 0 ? "nothing changed" : `${changes} lines changed`}
        </caption>
        <colgroup>
          <col class="at" />
          <col />
          <col class="at" />
          <col />
        </colgroup>
        <thead>
          <tr>
            <th scope="col" colSpan={2}>
              {props.titles[0]}
            </th>
            <th scope="col" colSpan={2}>
              {props.titles[1]}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((pair, index) =>
            pair === null ? (
              <tr key={index} class="skipped">
                <td colSpan={4}>unchanged lines left out</td>
              </tr>
            ) : (
              <tr key={index}>
                <Half side={pair.before} kind={pair.changed ? "gone" : ""} sign="−" />
                <Half side={pair.after} kind={pair.changed ? "come" : ""} sign="+" />
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

function Half({ side, kind, sign }: { side: Side | null; kind: string; sign: string }): VNode {
  if (!side)
    return (
      <>
        <td class="at none" />
        <td class="none" />
      </>
    );
  return (
    <>
      <td class={`at ${kind}`}>
        {/* A sign as well as a colour, for those who see no colours. */}
        {kind && <span>{sign}</span>} {side.number}
      </td>
      <td class={kind} dangerouslySetInnerHTML={{ __html: side.html || " " }} />
    </>
  );
}

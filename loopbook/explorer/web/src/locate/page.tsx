/** Where pasted code lands on the map, and what of its neighbours is taken or declined, and why. */
import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { choose, go, href, useAddress } from "../address";
import type { LocateDocument, LocatedNest, MapDocument } from "../documents";
import { MapCanvas } from "../map/canvas";
import { atlasOf } from "../map/page";
import type { Mark } from "../map/view";
import { Code } from "../parts/code";
import { Commands } from "../parts/copy";
import { Empty, Failed, useDocument, Waiting, type Loaded } from "../parts/document";
import { Table } from "../parts/table";
import { post, Problem } from "../source";
import { counted, figure, times } from "../text";
import { useTheme } from "../theme";
import { packText, unpackText } from "./packing";

const EXAMPLE = `import numpy as np

def kernel(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] = y[i] + A[i, j] * x[j]
`;

// More than this is no address that can be passed on.
const LONGEST = 6000;

export function LocatePage(): VNode {
  const { query } = useAddress();
  const target = query.get("target") ?? "sequential";
  const [code, setCode] = useState("");
  const [answer, setAnswer] = useState<Loaded<LocateDocument> | null>(null);
  const [tooLong, setTooLong] = useState(false);
  const [over, setOver] = useState(false);
  const running = useRef<AbortController | null>(null);
  const form = useRef<HTMLFormElement>(null);

  const locate = async (text: string) => {
    running.current?.abort();
    const controller = (running.current = new AbortController());
    const { signal } = controller;
    setAnswer({ state: "waiting" });
    // The code stands behind #, which browsers keep to themselves: no log of a server has it.
    const packed = await packText(text);
    setTooLong(packed.length > LONGEST);
    history.replaceState(null, "", location.pathname + location.search + (packed.length > LONGEST ? "" : `#code=${packed}`));
    try {
      const document = await post<LocateDocument>("locate", question(text, target), signal);
      if (!signal.aborted) setAnswer({ state: "there", document });
    } catch (cause) {
      if (signal.aborted) return;
      const problem = cause instanceof Problem ? cause : new Problem(String(cause));
      setAnswer({ state: "failed", problem, again: () => void locate(text) });
    }
  };
  useEffect(() => {
    const packed = new URLSearchParams(location.hash.slice(1)).get("code");
    if (packed)
      unpackText(packed).then(
        (text) => {
          setCode(text);
          void locate(text);
        },
        () =>
          setAnswer({
            state: "failed",
            problem: new Problem("The code in this address is damaged: paste it again."),
            again: () => setAnswer(null),
          }),
      );
    return () => running.current?.abort();
  }, []);
  const take = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (!file) return;
    void file.text().then((text) => {
      setCode(text);
      void locate(text);
    });
  };

  return (
    <div class="locate-page">
      <section class="ask" aria-label="Code to look up">
        <h1>Where does my code land?</h1>
        <p class="lead">
          Paste or drop a Python function or an SDFG (JSON). Python is read, never run. Each of its nests is put on the map,
          beside the records that are most like it.
        </p>
        <form
          ref={form}
          class={over ? "over" : undefined}
          onSubmit={(event) => {
            event.preventDefault();
            if (code.trim()) void locate(code);
          }}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            take(event.dataTransfer?.files);
          }}
        >
          <label class="paste">
            <span>Python or SDFG</span>
            <textarea
              rows={14}
              spellcheck={false}
              autocapitalize="off"
              placeholder={EXAMPLE}
              value={code}
              onInput={(event) => setCode(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit();
              }}
            />
          </label>
          <div class="row">
            <label>
              Target{" "}
              <select value={target} onChange={(event) => choose({ target: event.currentTarget.value }, { replace: true })}>
                <option>sequential</option>
                <option>openmp</option>
              </select>
            </label>
            <button type="submit" class="main" disabled={!code.trim()}>
              Locate
            </button>
            <label class="file">
              <input type="file" accept=".py,.json,.sdfg" onChange={(event) => take(event.currentTarget.files)} />
              <span>Open a file</span>
            </label>
            <button type="button" onClick={() => setCode(EXAMPLE)}>
              Example
            </button>
          </div>
        </form>
        {tooLong && <p class="aside">This code is too long for an address: share the file beside the link.</p>}
        {answer?.state === "there" && <Commands commands={[answer.document.command]} />}
        {answer?.state === "there" && answer.document.problems.length > 0 && (
          <ul class="problems" aria-label="What to know of this code">
            {answer.document.problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        )}
      </section>
      <Answer answer={answer} />
    </div>
  );
}

/** The question for a server: what begins with a brace is an SDFG. */
function question(text: string, target: string): unknown {
  if (!text.trimStart().startsWith("{")) return { python: text, target };
  try {
    return { sdfg: JSON.parse(text) as unknown, target };
  } catch {
    throw new Problem("This begins like an SDFG but is no JSON: save the SDFG again and drop the whole file.");
  }
}

function Answer({ answer }: { answer: Loaded<LocateDocument> | null }): VNode {
  const map = useDocument<MapDocument>("map", { keep: true });
  const theme = useTheme();
  const { query } = useAddress();
  const nests = answer?.state === "there" ? answer.document.nests : [];
  const at = Math.min(Math.max(0, nests.length - 1), Math.max(0, Number(query.get("nest")) || 0));
  const nest = nests[at];
  const [hover, setHover] = useState<string | null>(null);
  const marks = useMemo(() => (nest ? marksOf(nests, at, hover) : []), [answer, at, hover]);
  const whole = useMemo(() => {
    if (map.state !== "there") return null;
    const atlas = atlasOf(map.document);
    atlas.filter({ families: [], machines: [], targets: [], speedup: [0, Infinity], search: "" });
    return { atlas, order: atlas.chosen(null) };
  }, [map]);
  // Neighbours stand out, the rest of the book is faint.
  const selected = useMemo(() => {
    if (!whole || !nest) return null;
    const found = nest.neighbours.map(({ record }) => whole.atlas.indexOf(record));
    return Uint32Array.from(found.filter((index) => index !== undefined));
  }, [whole, nest]);
  return (
    <>
      <section class="where" aria-label="On the map">
        {map.state === "failed" ? (
          <Failed problem={map.problem} again={map.again} />
        ) : whole ? (
          <MapCanvas
            atlas={whole.atlas}
            theme={theme}
            by="speedup"
            order={whole.order}
            selected={selected}
            misses={false}
            polygon={null}
            marks={marks}
            place={null}
            onOpen={(id) => go(href(`record/${id}`))}
          />
        ) : (
          <Waiting what="the map" />
        )}
      </section>
      <section class="answer" aria-label="Neighbours" aria-live="polite">
        {answer === null ? (
          <Empty>Paste code and press Locate (Ctrl-Enter) to see its neighbours here.</Empty>
        ) : answer.state === "waiting" ? (
          <Waiting what="your code" />
        ) : answer.state === "failed" ? (
          <Failed problem={answer.problem} again={answer.again} />
        ) : !nest ? (
          <Empty>No loop nest was found in this code: paste a function with loops or NumPy expressions.</Empty>
        ) : (
          <NestAnswer nests={nests} at={at} nest={nest} onHover={setHover} />
        )}
      </section>
    </>
  );
}

function marksOf(nests: LocatedNest[], at: number, hover: string | null): Mark[] {
  const marks: Mark[] = [];
  nests.forEach((nest, index) => {
    if (nest.x == null || nest.y == null || index === at) return;
    marks.push({ x: nest.x, y: nest.y, kind: "chosen", label: nest.name ?? `nest ${index}` });
  });
  const nest = nests[at]!;
  if (nest.x != null && nest.y != null)
    marks.unshift({ x: nest.x, y: nest.y, kind: "located", label: nest.name ?? `nest ${at}` });
  for (const { record, x, y, name } of nest.neighbours)
    marks.push({ x, y, kind: record === hover ? "hover" : "neighbour", label: record === hover ? name : undefined });
  return marks;
}

function NestAnswer(props: {
  nests: LocatedNest[];
  at: number;
  nest: LocatedNest;
  onHover: (record: string | null) => void;
}): VNode {
  const { nests, at, nest } = props;
  const { decision } = nest;
  const tiers: Record<string, string> = {
    exact: "The book knows this nest",
    neighbour: "A neighbour's recipe is ported",
    library: "A library does this",
    rows: "Rows of a matrix are read together",
    order: "Its loops are put in the order of memory",
    kept: "Elements are loaded once",
    strips: "Sums are computed side by side",
    time: "Several time steps are done on a part of a grid",
    threads: "Threads share its iterations",
    sums: "Threads have sums of their own",
    none: "No recipe is taken",
  };
  return (
    <>
      {nests.length > 1 && (
        <nav class="tabs" aria-label="Nests of this code">
          {nests.map((one, index) => (
            <button
              key={index}
              type="button"
              aria-current={index === at ? "true" : undefined}
              onClick={() => choose({ nest: index ? String(index) : null }, { replace: true })}
            >
              {one.name ?? `nest ${index}`} <span class={`tier ${one.decision.tier}`}>{one.decision.tier}</span>
            </button>
          ))}
        </nav>
      )}
      <h2>
        {tiers[decision.tier] ?? decision.tier} <span class={`tier ${decision.tier}`}>{decision.tier}</span>
      </h2>
      <p>
        {decision.why}{" "}
        {decision.record && <a href={href(`record/${decision.record}`)}>See the record</a>}
      </p>
      {decision.recipe && decision.recipe.length > 0 && (
        <Code code={decision.recipe.join("\n")} language="text" label="The recipe for this nest" />
      )}
      <Code code={nest.loops} language="python" label="The nest" />
      <h2>{counted(nest.neighbours.length, "neighbour")}</h2>
      {nest.neighbours.length ? (
        <Table
          name="neighbours"
          caption="Neighbours, and why each was taken or declined"
          hideCaption
          rows={nest.neighbours}
          rowKey={({ record }) => record}
          rowClass={({ taken }) => (taken ? "taken" : undefined)}
          onRow={(row) => props.onHover(row?.record ?? null)}
          columns={[
            {
              key: "name",
              label: "Record",
              value: (row) => row.name,
              show: (row) => <a href={href(`record/${row.record}`)}>{row.name}</a>,
            },
            { key: "distance", label: "Distance", number: true, value: (row) => row.distance, show: (row) => figure(row.distance) },
            {
              key: "expected",
              label: "Expected gain",
              number: true,
              value: (row) => row.expected?.mid,
              show: (row) =>
                row.expected ? (
                  <>
                    {times(row.expected.mid)}{" "}
                    {/* Of a recipe that was not tried nothing is known but this. */}
                    {row.expected.low > 0 && (
                      <small>
                        {times(row.expected.low)} – {times(row.expected.high)}
                      </small>
                    )}
                  </>
                ) : (
                  "–"
                ),
            },
            {
              key: "why",
              label: "Why",
              value: (row) => row.why,
              show: (row) => (
                <>
                  <span class={`tier ${row.taken ? "exact" : "none"}`}>{row.taken ? "taken" : "declined"}</span>{" "}
                  {row.why.replace(/^(taken|declined): /, "")}
                  {row.refused.length > 0 && (
                    <ul class="refused">
                      {row.refused.map((reason) => (
                        <li key={reason}>{reason}</li>
                      ))}
                    </ul>
                  )}
                </>
              ),
            },
            {
              key: "recipe",
              label: "Recipe",
              value: (row) => row.recipe.length,
              show: (row) =>
                row.recipe.length ? (
                  <details>
                    <summary>{counted(row.recipe.length, "step")}</summary>
                    <code class="recipe">{row.recipe.join("\n")}</code>
                  </details>
                ) : (
                  "none"
                ),
            },
          ]}
        />
      ) : (
        <Empty>The book has nothing like this nest: tune it with the command above, and others will find it.</Empty>
      )}
    </>
  );
}

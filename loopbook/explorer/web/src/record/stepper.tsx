/** A slider through a recipe's steps; what a step changed is marked in the nest and in the C++. */
import type { VNode } from "preact";
import { choose, useAddress } from "../address";
import type { CppDocument, RecordDocument } from "../documents";
import { SideBySide } from "../parts/code";
import { Empty, Failed, useDocument, Waiting } from "../parts/document";
import { report } from "../source";

export function Stepper({ record }: { record: RecordDocument }): VNode {
  const { query } = useAddress();
  // A report holds its C++; a server generates it when it is asked for.
  const generated = useDocument<CppDocument>(report ? null : `record/${record.id}/cpp`);
  const cpp = generated.state === "there" ? generated.document : null;
  const steps = cpp?.steps.length ? cpp.steps : record.steps;
  const last = steps.length - 1;
  const asked = query.get("step");
  const at = asked === null ? last : Math.min(last, Math.max(0, Math.trunc(Number(asked)) || 0));
  const whole = query.get("against") !== "previous";
  const step = steps[at];
  if (!step)
    return (
      <section aria-label="Recipe">
        <Empty>This record has no steps to show; its nest is served as the compiler makes it.</Empty>
      </section>
    );
  const against = whole ? 0 : Math.max(0, at - 1);
  const before = steps[against]!;
  // The C++ of steps in between is not always kept: then the nearest that is.
  const nearest = (from: number, way: 1 | -1) => {
    for (let i = from; i >= 0 && i <= last; i += way) if (steps[i]!.cpp) return i;
    return null;
  };
  const cppAfter = step.cpp ? at : (nearest(at, 1) ?? nearest(at, -1));
  const cppBefore = before.cpp ? against : nearest(against, -1);
  const name = (index: number) => (index === 0 ? "Before" : index === last ? "After all steps" : `After step ${index}`);
  const set = (value: number) => choose({ step: String(value) }, { replace: true });
  return (
    <section class="stepper" aria-labelledby="recipe">
      <h2 id="recipe">Recipe, step by step</h2>
      {last === 0 && (
        <p class="notice">This record has no steps: nothing that was tried was faster, and the nest stays as it is.</p>
      )}
      <div class="stepper-body">
        <div class="steps">
          {last > 0 && (
            <label class="slider">
              <span>
                {at === 0 ? "Before any step" : `Step ${at} of ${last}`}
              </span>
              <input
                type="range"
                min="0"
                max={last}
                value={at}
                aria-valuetext={at === 0 ? "before any step" : `step ${at} of ${last}: ${step.step}`}
                onInput={(event) => set(Number(event.currentTarget.value))}
              />
            </label>
          )}
          <ol start={0}>
            {steps.map((one, index) => (
              <li key={index}>
                <button type="button" aria-current={index === at ? "step" : undefined} onClick={() => set(index)}>
                  <code>{one.step ?? "as written"}</code>
                  {one.refused && <span class="refused">refused: {one.refused}</span>}
                </button>
              </li>
            ))}
          </ol>
          <fieldset class="against">
            <legend>Compare with</legend>
            <label>
              <input type="radio" name="against" checked={whole} onChange={() => choose({ against: null }, { replace: true })} /> before
              any step
            </label>
            <label>
              <input
                type="radio"
                name="against"
                checked={!whole}
                onChange={() => choose({ against: "previous" }, { replace: true })}
              />{" "}
              the step before
            </label>
          </fieldset>
        </div>
        <div class="states">
          <p class="summary-line" role="status">
            <code>{step.step ?? "as written"}</code> {step.summary}
            {step.pending && " (this state is being worked out)"}
          </p>
          <h3>Nest</h3>
          <SideBySide
            before={before.nest}
            after={step.nest}
            language="python"
            titles={[name(against), name(at)]}
            label="The nest"
          />
          <h3>C++</h3>
          {cppAfter !== null && cppBefore !== null ? (
            <>
              {cppAfter !== at && (
                <p class="aside">The C++ of this step alone is not kept; the nearest that is stands here.</p>
              )}
              <SideBySide
                before={steps[cppBefore]!.cpp!}
                after={steps[cppAfter]!.cpp!}
                language="cpp"
                titles={[name(cppBefore), name(cppAfter)]}
                label="The C++"
                context={6}
              />
            </>
          ) : !report && generated.state === "waiting" ? (
            <Waiting what="the C++, which is generated now" />
          ) : generated.state === "failed" ? (
            <Failed problem={generated.problem} again={generated.again} />
          ) : (
            <Empty>
              {cpp?.problem ?? (
                <>
                  This report does not hold the C++: see it with <code>loopbook ui</code>.
                </>
              )}
            </Empty>
          )}
        </div>
      </div>
    </section>
  );
}

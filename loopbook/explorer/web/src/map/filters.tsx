/** The filters beside the map, which are its legend as well. */
import { max } from "d3-array";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { choose } from "../address";
import { outline, type Look } from "../palette";
import { count, day, figure, times } from "../text";
import type { Theme } from "../theme";
import { BINS, type Atlas, type Counts } from "./atlas";
import { COLOURINGS, looks, ramp } from "./scene";
import { chooseSpeedup, type Chosen } from "./state";

export function FiltersPanel(props: { atlas: Atlas; chosen: Chosen; counts: Counts; theme: Theme }): VNode {
  const { atlas, chosen, counts, theme } = props;
  const { document } = atlas;
  const { by } = chosen;
  const any =
    chosen.families.length || chosen.machines.length || chosen.targets.length || chosen.search ||
    chosen.speedup[0] > 0 || chosen.speedup[1] < Infinity;
  return (
    <aside class="filters" aria-label="Filters and legend">
      <label class="search">
        <span>Search</span>
        <input
          type="search"
          placeholder="name, family or id"
          value={chosen.search}
          onInput={(event) => choose({ q: event.currentTarget.value }, { replace: true })}
        />
      </label>
      <label class="search">
        <span>Colour by</span>
        <select value={by} onChange={(event) => choose({ colour: event.currentTarget.value })}>
          {COLOURINGS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      {(by === "speedup" || by === "age") && <RampLegend atlas={atlas} by={by} theme={theme} />}
      <p class="shown">
        <strong>{count(counts.all)}</strong> of {count(atlas.count)} shown{" "}
        {any ? (
          <button
            type="button"
            onClick={() => choose({ family: null, machine: null, target: null, speedup: null, q: null })}
          >
            Clear filters
          </button>
        ) : null}
      </p>
      <SpeedupFilter atlas={atlas} chosen={chosen} counts={counts} />
      <Facet
        name="target"
        title="Target"
        values={document.targets.map((target) => ({ value: target, label: target }))}
        counts={counts.target}
        chosen={chosen.targets}
      />
      <Facet
        name="family"
        title="Family"
        values={document.families.map((family) => ({ value: family, label: family }))}
        counts={counts.family}
        chosen={chosen.families}
        looks={by === "family" ? looks(atlas, "family", theme) : undefined}
      />
      <Facet
        name="machine"
        title="Machine"
        values={document.machines.map(({ id }, index) => ({ value: id, label: atlas.machineNames[index]! }))}
        counts={counts.machine}
        chosen={chosen.machines}
        looks={by === "machine" ? looks(atlas, "machine", theme) : undefined}
      />
      {document.misses.id.length > 0 && (
        <label class="tick">
          <input
            type="checkbox"
            checked={chosen.misses}
            onChange={(event) => choose({ misses: event.currentTarget.checked ? null : "no" })}
          />
          <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true" class="ring">
            <circle r="4.5" />
          </svg>
          <span class="name">misses (hollow)</span>
          <span class="number">{count(document.misses.id.length)}</span>
        </label>
      )}
    </aside>
  );
}

function RampLegend({ atlas, by, theme }: { atlas: Atlas; by: "speedup" | "age"; theme: Theme }): VNode {
  const colours = ramp(atlas, by, theme);
  const [low, high] = by === "speedup" ? atlas.speedups : atlas.ages;
  const at = (part: number) =>
    by === "speedup" ? Math.exp(Math.log(low) + part * Math.log(high / low)) : low + part * (high - low);
  const say = by === "speedup" ? times : day;
  return (
    <div class="ramp">
      <svg viewBox="0 0 64 6" preserveAspectRatio="none" role="img" aria-label={`Colours from ${say(low)} to ${say(high)}`}>
        {Array.from({ length: 64 }, (_, step) => (
          <rect key={step} x={step} width="1.05" height="6" fill={colours(at(step / 63))} />
        ))}
      </svg>
      <span>{say(low)}</span>
      <span>{say(at(0.5))}</span>
      <span>{say(high)}</span>
    </div>
  );
}

function SpeedupFilter({ atlas, chosen, counts }: { atlas: Atlas; chosen: Chosen; counts: Counts }): VNode {
  const [low, high] = chosen.speedup;
  const most = max(counts.speedup) || 1;
  const set = (which: 0 | 1, text: string) => {
    const value = text === "" ? (which ? Infinity : 0) : Number(text);
    if (Number.isNaN(value)) return;
    chooseSpeedup(which ? low : value, which ? value : high);
  };
  return (
    <fieldset class="speedup">
      <legend>Speedup</legend>
      <svg viewBox={`0 0 ${BINS} 10`} preserveAspectRatio="none" aria-hidden="true">
        {Array.from(counts.speedup, (number, bin) => {
          const tall = number ? Math.max(0.3, (10 * number) / most) : 0;
          const inside = atlas.binStart(bin + 1) > low && atlas.binStart(bin) < high;
          return (
            <rect
              key={bin}
              class={inside ? "inside" : ""}
              x={bin + 0.08}
              y={10 - tall}
              width="0.84"
              height={tall}
            />
          );
        })}
      </svg>
      <div class="scale" aria-hidden="true">
        <span>≤ {times(atlas.speedups[0])}</span>
        <span>≥ {times(atlas.speedups[1])}</span>
      </div>
      <div class="bounds">
        <label>
          from{" "}
          <input type="number" min="0" step="any" placeholder="any" value={low > 0 ? String(low) : ""} onChange={(event) => set(0, event.currentTarget.value)} />
        </label>
        <label>
          to{" "}
          <input type="number" min="0" step="any" placeholder="any" value={high < Infinity ? figure(high).replaceAll(",", "") : ""} onChange={(event) => set(1, event.currentTarget.value)} />
        </label>
      </div>
    </fieldset>
  );
}

const SHORT = 12;

function Facet(props: {
  name: string;
  title: string;
  values: { value: string; label: string }[];
  counts: Uint32Array;
  chosen: string[];
  looks?: Look[];
}): VNode {
  const [whole, setWhole] = useState(false);
  const { values, counts, chosen } = props;
  const order = [...values.keys()].sort((a, b) => counts[b]! - counts[a]! || a - b);
  // What is ticked stays in sight.
  const shown = whole ? order : order.filter((index, rank) => rank < SHORT || chosen.includes(values[index]!.value));
  const most = max(counts) || 1;
  const toggle = (value: string, on: boolean) =>
    choose({ [props.name]: on ? [...chosen, value] : chosen.filter((one) => one !== value) });
  return (
    <fieldset class="facet">
      <legend>{props.title}</legend>
      {shown.map((index) => {
        const { value, label } = values[index]!;
        const look = props.looks?.[index];
        return (
          <label key={value} class={`tick${counts[index] ? "" : " none"}`} title={label}>
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={(event) => toggle(value, event.currentTarget.checked)}
            />
            {look && (
              <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">
                <path d={outline(look.shape, 5)} fill={look.colour} />
              </svg>
            )}
            <span class="name">{label}</span>
            <svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
              <rect width={(100 * counts[index]!) / most} height="6" />
            </svg>
            <span class="number">{count(counts[index]!)}</span>
          </label>
        );
      })}
      {order.length > SHORT && (
        <button type="button" class="more" onClick={() => setWhole(!whole)}>
          {whole ? "Show fewer" : `Show all ${order.length}`}
        </button>
      )}
    </fieldset>
  );
}

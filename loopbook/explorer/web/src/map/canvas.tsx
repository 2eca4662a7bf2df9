/** The map's canvas as a component; the page says what is on it and hears what is done with it. */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Theme } from "../theme";
import { times } from "../text";
import type { Atlas } from "./atlas";
import { BACKGROUND, dressed, missing, type Colouring } from "./scene";
import { View, type Mark, type Place } from "./view";

const KEYS = "Arrow keys move the map, + and − enlarge, 0 shows all, N and P go from record to record, Enter opens it, Escape lets go.";

const METHODS: Record<string, string> = { tsne: "t-SNE", pca: "PCA", umap: "UMAP" };

export interface Hovered {
  index: number | null;
  miss: number | null;
  at: [number, number];
}

export function MapCanvas(props: {
  atlas: Atlas;
  theme: Theme;
  by: Colouring;
  /** Points that pass the filters, in the order in which N and P go through them. */
  order: Uint32Array;
  /** Those within the lasso, or null where there is none. */
  selected: Uint32Array | null;
  misses: boolean;
  polygon: [number, number][] | null;
  marks: Mark[];
  place: Place | null;
  onPlace?: (place: Place) => void;
  onLasso?: (polygon: [number, number][]) => void;
  onOpen: (id: string) => void;
  children?: ComponentChildren;
}): VNode {
  const { atlas, theme, by } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<SVGSVGElement>(null);
  const view = useRef<View | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const [walked, setWalked] = useState<number | null>(null);
  const [lassoing, setLassoing] = useState(false);

  useEffect(() => {
    const find = ({ x, y, reach }: { x: number; y: number; reach: number }) => {
      const { atlas, misses } = latest.current;
      const index = atlas.nearest(x, y, reach);
      if (index !== null || !misses) return { index, miss: null };
      const all = atlas.document.misses;
      const miss = all.x.findIndex((mx, at) => (mx - x) ** 2 + (all.y[at]! - y) ** 2 < reach ** 2);
      return { index: null, miss: miss < 0 ? null : miss };
    };
    const made = new View(box.current!, canvas.current!, overlay.current!, {
      hover(point, at) {
        const found = point && find(point);
        setHovered(found && (found.index !== null || found.miss !== null) ? { ...found, at } : null);
      },
      click(point) {
        const { index, miss } = find(point);
        const id = index !== null ? latest.current.atlas.ids[index] : miss !== null ? atlas.document.misses.record[miss] : null;
        if (id) latest.current.onOpen(id);
      },
      moved: (place) => latest.current.onPlace?.(place),
      lasso(polygon) {
        setLassoing(false);
        latest.current.onLasso?.(polygon);
      },
    });
    view.current = made;
    if (props.place) made.go(props.place);
    return () => made.destroy();
  }, []);

  const points = useMemo(() => dressed(atlas, by, theme), [atlas, by, theme]);
  const misses = useMemo(() => missing(atlas, theme, props.misses), [atlas, theme, props.misses]);
  useEffect(() => {
    const { order, selected } = props;
    points.show.fill(1);
    for (const index of selected ?? order) points.show[index] = 2;
    view.current!.set({ points, misses, clusters: atlas.document.clusters, background: BACKGROUND[theme] });
  }, [points, misses, props.order, props.selected]);
  useEffect(() => view.current!.outline(props.polygon), [props.polygon]);
  useEffect(() => view.current!.lassoMode(lassoing), [lassoing]);
  useEffect(() => {
    const marks = [...props.marks];
    const index = walked ?? hovered?.index ?? null;
    if (index !== null) marks.push({ x: atlas.x[index]!, y: atlas.y[index]!, kind: "hover" });
    view.current!.mark(marks);
  }, [props.marks, hovered, walked]);

  // The address says another place, as after going back: look there.
  const key = props.place ? `${props.place.x},${props.place.y},${props.place.k}` : "";
  const said = useRef(key);
  useEffect(() => {
    if (said.current === key) return;
    said.current = key;
    const now = view.current!.place();
    const wanted = props.place ?? { x: 0, y: 0, k: 1 };
    const far = Math.abs(now.x - wanted.x) + Math.abs(now.y - wanted.y) > 0.01 / wanted.k || Math.abs(now.k / wanted.k - 1) > 0.01;
    if (far) view.current!.go(wanted);
  }, [key]);

  const walk = (step: number) => {
    const { order, selected } = props;
    const all = selected ?? order;
    if (!all.length) return;
    const at = walked === null ? (step > 0 ? -1 : 0) : all.indexOf(walked);
    const next = all[(at + step + all.length) % all.length]!;
    setWalked(next);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const made = view.current!;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => made.pan(-0.2, 0),
      ArrowRight: () => made.pan(0.2, 0),
      ArrowUp: () => made.pan(0, 0.2),
      ArrowDown: () => made.pan(0, -0.2),
      "+": () => made.enlarge(1.4),
      "=": () => made.enlarge(1.4),
      "-": () => made.enlarge(1 / 1.4),
      "0": () => {
        made.go({ x: 0, y: 0, k: 1 });
        props.onPlace?.(made.place());
      },
      n: () => walk(1),
      p: () => walk(-1),
      Escape: () => {
        setWalked(null);
        setLassoing(false);
      },
      Enter: () => walked !== null && props.onOpen(atlas.ids[walked]!),
    };
    const action = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  };
  const told = walked ?? null;

  return (
    <div class="map">
      <div class="map-tools" role="toolbar" aria-label="The view of the map">
        <button type="button" onClick={() => view.current!.enlarge(1.4)} aria-label="Enlarge">
          +
        </button>
        <button type="button" onClick={() => view.current!.enlarge(1 / 1.4)} aria-label="Make smaller">
          −
        </button>
        <button
          type="button"
          onClick={() => {
            view.current!.go({ x: 0, y: 0, k: 1 });
            props.onPlace?.(view.current!.place());
          }}
        >
          All
        </button>
        {props.onLasso && (
          <>
            <button type="button" aria-pressed={lassoing} onClick={() => setLassoing(!lassoing)} title="Or hold Shift and draw">
              Lasso
            </button>
            <button type="button" onClick={() => props.onLasso!(view.current!.seen())}>
              Select what is seen
            </button>
          </>
        )}
        <span class="projection">
          {METHODS[atlas.document.projection.method] ?? atlas.document.projection.method} of{" "}
          {atlas.document.projection.encoder}
        </span>
      </div>
      <div
        class="map-box"
        ref={box}
        tabIndex={0}
        role="application"
        aria-roledescription="map"
        aria-label={`Map of ${atlas.count} records. ${KEYS} The table of records says the same in words.`}
        onKeyDown={pressed}
        onBlur={() => setWalked(null)}
      >
        <canvas ref={canvas} aria-hidden="true" />
        <svg ref={overlay} aria-hidden="true" />
        {props.children}
        {hovered && told === null && <Tip atlas={atlas} hovered={hovered} box={box.current!} />}
      </div>
      <p class="map-said" role="status">
        {told !== null
          ? `${atlas.names[told]}, ${atlas.document.families[atlas.family[told]!]}, ${times(atlas.speedup[told])}. Enter opens it.`
          : lassoing
            ? "Draw around records to select them; Escape stops."
            : "Drag to move, scroll to enlarge, Shift-drag to select; keys: arrows, +, −, 0, N, P, Enter."}
      </p>
    </div>
  );
}

function Tip({ atlas, hovered, box }: { atlas: Atlas; hovered: Hovered; box: HTMLElement }): VNode {
  const { document } = atlas;
  const { index, miss, at } = hovered;
  const [left, top] = [Math.min(at[0] + 14, box.clientWidth - 290), Math.min(at[1] + 14, box.clientHeight - 90)];
  const style = { transform: `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)` };
  if (index === null) {
    const asked = document.misses.asked[miss!]!;
    const state = document.misses.state[miss!]!;
    const what = { open: "waits for a tuner", leased: "is being tuned", done: "has been tuned", failed: "could not be tuned" }[state];
    return (
      <div class="tip" style={style}>
        <strong>A miss</strong>
        <span>
          asked for {asked === 1 ? "once" : `${asked} times`}; {what}
        </span>
      </div>
    );
  }
  return (
    <div class="tip" style={style}>
      <strong>{atlas.names[index]}</strong>
      <span>
        {times(atlas.speedup[index])} · {document.families[atlas.family[index]!]} ·{" "}
        {document.targets[atlas.target[index]!]}
      </span>
      <span>{atlas.machineNames[atlas.machine[index]!]}</span>
    </div>
  );
}

/** All nests of the book by their vectors: where there are recipes, how much they gain, what is missing. */
import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { go, href, useAddress } from "../address";
import type { MapDocument } from "../documents";
import { Empty, useDocument, When } from "../parts/document";
import { useTheme } from "../theme";
import { Atlas } from "./atlas";
import { MapCanvas } from "./canvas";
import { FiltersPanel } from "./filters";
import { RecordsPanel } from "./records";
import { chosen, choosePlace, choosePolygon } from "./state";
import type { Mark } from "./view";

const atlases = new WeakMap<MapDocument, Atlas>();

/** The atlas of a document, made once. */
export function atlasOf(document: MapDocument): Atlas {
  let atlas = atlases.get(document);
  if (!atlas) atlases.set(document, (atlas = new Atlas(document)));
  return atlas;
}

export function MapPage(): VNode {
  const loaded = useDocument<MapDocument>("map", { keep: true });
  return (
    <When loaded={loaded} what="the map">
      {(document) => <Loaded atlas={atlasOf(document)} />}
    </When>
  );
}

function Loaded({ atlas }: { atlas: Atlas }): VNode {
  const theme = useTheme();
  const { query } = useAddress();
  // Where one looks changes with each movement; what is chosen does not.
  const view = query.get("view");
  const rest = new URLSearchParams(query);
  rest.delete("view");
  rest.delete("records.sort");
  const key = rest.toString();
  const state = useMemo(() => chosen(new URLSearchParams(key)), [key]);
  const place = useMemo(() => chosen(new URLSearchParams(view ? { view } : {})).place, [view]);
  const [hover, setHover] = useState<number | null>(null);
  const { counts, order, selected } = useMemo(() => {
    atlas.filter(state);
    return {
      counts: atlas.counts(),
      order: atlas.chosen(null),
      selected: state.polygon && atlas.chosen(state.polygon),
    };
  }, [atlas, state]);
  const marks = useMemo<Mark[]>(
    () => (hover === null ? [] : [{ x: atlas.x[hover]!, y: atlas.y[hover]!, kind: "chosen" }]),
    [atlas, hover],
  );
  useEffect(() => void performance.mark("loopbook-map"), []);
  if (!atlas.count && !atlas.document.misses.id.length)
    return (
      <Empty>
        This book holds no records yet: tune a kernel with <code>loopbook tune FILE</code>, or import a book with{" "}
        <code>loopbook book import FILE</code>.
      </Empty>
    );
  return (
    <div class="map-page">
      <h1 class="unseen">Map of the book</h1>
      <FiltersPanel atlas={atlas} chosen={state} counts={counts} theme={theme} />
      <MapCanvas
        atlas={atlas}
        theme={theme}
        by={state.by}
        order={order}
        selected={selected}
        misses={state.misses}
        polygon={state.polygon}
        marks={marks}
        place={place}
        onPlace={choosePlace}
        onLasso={choosePolygon}
        onOpen={(id) => go(href(`record/${id}`))}
      />
      <RecordsPanel atlas={atlas} points={selected ?? order} lasso={selected !== null} onHover={setHover} />
    </div>
  );
}

/** The book's map around a pasted nest, with lines to its neighbours. */
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { go, href } from "../address";
import type { LocatedNest, MapDocument } from "../documents";
import { MapCanvas } from "../map/canvas";
import { atlasOf } from "../map/page";
import { chosen } from "../map/state";
import type { Mark, Place } from "../map/view";
import { Empty, useDocument, When } from "../parts/document";
import { useTheme } from "../theme";

const UNFILTERED = chosen(new URLSearchParams());

/** Neighbours are seen apart, and still with what lies around them. */
const MOST_ENLARGED = 12;

export function NestMap({ nest }: { nest: LocatedNest }): VNode {
  const loaded = useDocument<MapDocument>("map", { keep: true });
  if (nest.x === null || nest.y === null)
    return <Empty>This nest has no place on the map: the book has too few vectors, or those of another encoder.</Empty>;
  return (
    <When loaded={loaded} what="the map">
      {(document) => <Around document={document} nest={nest} />}
    </When>
  );
}

function Around({ document, nest }: { document: MapDocument; nest: LocatedNest }): VNode {
  const theme = useTheme();
  const atlas = atlasOf(document);
  const order = useMemo(() => {
    atlas.filter(UNFILTERED); // the map's page may have left filters
    return atlas.chosen(null);
  }, [atlas]);
  const marks = useMemo(() => marksOf(nest), [nest]);
  const place = useMemo(() => placeOf(marks), [marks]);
  return (
    <div class="locate-map">
      <MapCanvas
        atlas={atlas}
        theme={theme}
        by="speedup"
        order={order}
        selected={null}
        misses={false}
        polygon={null}
        marks={marks}
        place={place}
        onOpen={(id) => go(href(`record/${id}`))}
      />
    </div>
  );
}

function marksOf(nest: LocatedNest): Mark[] {
  const near = nest.neighbours.filter(({ x, y }) => x != null && y != null);
  // Only what is taken is named: neighbours often lie on top of each other.
  return [
    { x: nest.x!, y: nest.y!, kind: "located", label: nest.name ?? "this nest" },
    ...near.map<Mark>(({ x, y, taken, name }) => ({ x, y, kind: "neighbour", label: taken ? name : undefined })),
  ];
}

/** A view that has all marks in it. */
function placeOf(marks: Mark[]): Place {
  const [xs, ys] = [marks.map(({ x }) => x), marks.map(({ y }) => y)];
  const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const reach = Math.max(right - left, top - bottom) / 2;
  const k = Math.min(MOST_ENLARGED, Math.max(1, 0.7 / Math.max(reach, 1e-6)));
  return { x: (left + right) / 2, y: (bottom + top) / 2, k };
}

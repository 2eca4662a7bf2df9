/** The map as one sees it: its canvas, names of clusters, marks; pan, zoom, hover, lasso, keys. */
import { select } from "d3-selection";
import { zoom, zoomIdentity, type ZoomTransform } from "d3-zoom";
import { outline } from "../palette";
import { Painter, RING, type Points, type Transform } from "./painter";

const SVG = "http://www.w3.org/2000/svg";

/** A place that stands out: what was hovered, chosen or located. */
export interface Mark {
  x: number;
  y: number;
  kind: "hover" | "chosen" | "located" | "neighbour";
  label?: string;
}

/** A view of the map: the point in the middle and how many times it is enlarged. */
export interface Place {
  x: number;
  y: number;
  k: number;
}

export interface Listener {
  hover(point: { x: number; y: number; reach: number } | null, at: [number, number]): void;
  click(point: { x: number; y: number; reach: number }): void;
  moved(place: Place): void;
  lasso(polygon: [number, number][]): void;
}

export class View {
  private readonly painter: Painter;
  private readonly zoomer = zoom<HTMLElement, unknown>().scaleExtent([0.5, 400]);
  private transform: ZoomTransform = zoomIdentity;
  private width = 0;
  private height = 0;
  private points: Points | null = null;
  private misses: Points | null = null;
  private clusters: { x: number; y: number; name: string; size: number }[] = [];
  private marks: Mark[] = [];
  private polygon: [number, number][] | null = null;
  private background = "#ffffff";
  private frame = 0;
  private settle = 0;
  private moving = false;
  private lassoing = false;
  private drawing: [number, number][] | null = null;
  private stride = 1;
  private readonly watcher: ResizeObserver;
  /** Milliseconds that the last frame took to draw; benchmarks read it. */
  cost = 0;

  constructor(
    private readonly box: HTMLElement,
    canvas: HTMLCanvasElement,
    private readonly overlay: SVGSVGElement,
    private readonly listener: Listener,
  ) {
    this.painter = new Painter(canvas);
    this.zoomer
      .filter((event: MouseEvent) => !this.lassoing && !event.shiftKey && !event.button && !this.drawing)
      .on("zoom", (event: { transform: ZoomTransform; sourceEvent: unknown }) => {
        this.transform = event.transform;
        this.move();
      })
      .on("end", (event: { sourceEvent: unknown }) => {
        if (event.sourceEvent) this.listener.moved(this.place());
      });
    select(box).call(this.zoomer).on("dblclick.zoom", null);
    box.addEventListener("pointermove", this.pointed);
    box.addEventListener("pointerleave", this.left);
    box.addEventListener("click", this.clicked);
    box.addEventListener("pointerdown", this.pressed);
    box.addEventListener("pointerup", this.released);
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(box);
    this.resize();
  }

  destroy(): void {
    this.watcher.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.settle);
    select(this.box).on(".zoom", null);
    this.box.removeEventListener("pointermove", this.pointed);
    this.box.removeEventListener("pointerleave", this.left);
    this.box.removeEventListener("click", this.clicked);
    this.box.removeEventListener("pointerdown", this.pressed);
    this.box.removeEventListener("pointerup", this.released);
  }

  // --- what is shown ---------------------------------------------------------------------------

  set(shown: {
    points: Points;
    misses: Points;
    clusters: { x: number; y: number; name: string; size: number }[];
    background: string;
  }): void {
    this.points = shown.points;
    this.misses = shown.misses;
    this.clusters = shown.clusters;
    this.background = shown.background;
    this.stride = 1;
    this.request();
  }

  mark(marks: Mark[]): void {
    this.marks = marks;
    this.request();
  }

  outline(polygon: [number, number][] | null): void {
    this.polygon = polygon;
    this.request();
  }

  lassoMode(on: boolean): void {
    this.lassoing = on;
    this.box.classList.toggle("lassoing", on);
  }

  // --- where one looks ----------------------------------------------------------------------------

  /** Half of the shorter side shows one unit of the map, less a margin. */
  private get unit(): number {
    return Math.max(20, Math.min(this.width, this.height) / 2 - 24);
  }

  private base(): Transform {
    return { k: this.unit, x: this.width / 2, y: this.height / 2 };
  }

  /** From the map's units to CSS pixels. */
  private current(): Transform {
    const { k, x, y } = this.base();
    const { transform } = this;
    return { k: k * transform.k, x: x * transform.k + transform.x, y: y * transform.k + transform.y };
  }

  place(): Place {
    const { k, x, y } = this.current();
    return { x: (this.width / 2 - x) / k, y: -(this.height / 2 - y) / k, k: this.transform.k };
  }

  go({ x, y, k }: Place): void {
    const { unit } = this;
    const target = zoomIdentity
      .translate(this.width / 2, this.height / 2)
      .scale(k)
      .translate(-this.width / 2 - x * unit, -this.height / 2 + y * unit);
    this.zoomer.transform(select(this.box), target);
  }

  /** Moves by a part of what is seen. */
  pan(dx: number, dy: number): void {
    const { x, y, k } = this.place();
    const seen = Math.min(this.width, this.height) / (this.unit * k);
    this.go({ x: x + dx * seen, y: y + dy * seen, k });
    this.listener.moved(this.place());
  }

  enlarge(factor: number): void {
    const { x, y, k } = this.place();
    this.go({ x, y, k: Math.min(400, Math.max(0.5, k * factor)) });
    this.listener.moved(this.place());
  }

  /** What is seen, as a polygon. */
  seen(): [number, number][] {
    const corners: [number, number][] = [
      [0, 0],
      [this.width, 0],
      [this.width, this.height],
      [0, this.height],
    ];
    return corners.map((corner) => this.unproject(corner));
  }

  private unproject([px, py]: [number, number]): [number, number] {
    const { k, x, y } = this.current();
    return [(px - x) / k, -(py - y) / k];
  }

  private project(mx: number, my: number): [number, number] {
    const { k, x, y } = this.current();
    return [mx * k + x, -my * k + y];
  }

  // --- the pointer ----------------------------------------------------------------------------------

  private at(event: MouseEvent): [number, number] {
    const box = this.box.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private under(event: MouseEvent): { x: number; y: number; reach: number } {
    const [x, y] = this.unproject(this.at(event));
    return { x, y, reach: (this.radius() + 5) / this.current().k };
  }

  private readonly pointed = (event: PointerEvent) => {
    if (this.drawing) {
      this.drawing.push(this.at(event));
      this.request();
      return;
    }
    if (event.buttons === 0) this.listener.hover(this.under(event), this.at(event));
  };

  private readonly left = () => this.listener.hover(null, [0, 0]);

  private readonly clicked = (event: MouseEvent) => {
    if (!event.defaultPrevented && !this.lassoing && !event.shiftKey) this.listener.click(this.under(event));
  };

  private readonly pressed = (event: PointerEvent) => {
    if (event.button !== 0 || !(this.lassoing || event.shiftKey)) return;
    this.drawing = [this.at(event)];
    this.box.setPointerCapture(event.pointerId);
    event.preventDefault();
  };

  private readonly released = () => {
    const drawn = this.drawing;
    if (!drawn) return;
    this.drawing = null;
    this.request();
    if (drawn.length < 3) return;
    // An address holds some fifty corners well, and an eye sees no more.
    const every = Math.ceil(drawn.length / 48);
    this.listener.lasso(drawn.filter((_, index) => index % every === 0).map((corner) => this.unproject(corner)));
  };

  // --- drawing -----------------------------------------------------------------------------------

  private resize(): void {
    const place = this.width ? this.place() : null;
    this.width = this.box.clientWidth;
    this.height = this.box.clientHeight;
    this.zoomer.extent([
      [0, 0],
      [this.width, this.height],
    ]);
    if (place && this.transform !== zoomIdentity) this.go(place);
    this.request();
  }

  private radius(): number {
    const count = Math.max(1, this.points?.count ?? 1);
    const alone = Math.sqrt((this.width * this.height) / count) * 0.16;
    return Math.min(7, Math.max(1.6, alone * this.transform.k ** 0.3));
  }

  private move(): void {
    this.moving = true;
    clearTimeout(this.settle);
    this.settle = window.setTimeout(() => {
      this.moving = false;
      this.request();
    }, 140);
    this.request();
  }

  private request(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    this.frame = 0;
    if (!this.width || !this.height) return;
    const began = performance.now();
    const { painter, points, misses, moving } = this;
    // While moving, one dot a pixel, and fewer points where a frame takes too long for the eye.
    const ratio = moving ? 1 : Math.min(2, devicePixelRatio);
    painter.resize(this.width, this.height, ratio);
    painter.clear(this.background);
    const seen = this.current();
    const transform = { k: seen.k * ratio, x: seen.x * ratio, y: seen.y * ratio };
    const radius = this.radius() * ratio;
    const stride = moving ? this.stride : 1;
    if (points) {
      painter.draw(points, transform, 1, { radius: Math.max(1, radius * 0.5), opacity: 0.22, stride });
      painter.draw(points, transform, 2, { radius, opacity: points.count > 20000 ? 0.75 : 0.88, stride });
    }
    if (misses) painter.draw(misses, transform, 2, { radius: Math.max(3.5 * ratio, radius), opacity: 1 });
    painter.show();
    this.annotate();
    this.cost = performance.now() - began;
    if (moving && this.cost > 24) this.stride = Math.min(16, this.stride * 2);
    this.box.dataset.frames = String(Number(this.box.dataset.frames ?? 0) + 1);
    this.box.dataset.stride = String(stride);
  }

  /** Names, marks and the lasso, above the points. */
  private annotate(): void {
    const parts: SVGElement[] = [];
    const make = (name: string, attributes: Record<string, string | number>, text?: string) => {
      const element = document.createElementNS(SVG, name) as SVGElement;
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
      if (text !== undefined) element.textContent = text;
      parts.push(element);
    };
    const taken: [number, number, number, number][] = [];
    const located = this.marks.find(({ kind }) => kind === "located");
    for (const { x, y, label } of this.marks) {
      if (!label) continue;
      const [px, py] = this.project(x, y);
      taken.push([px - 20, py - 16, px + 20 + 8 * label.length, py + 16]);
    }
    const names = new Map<string, [number, number][]>();
    for (const { x, y, name } of this.clusters) {
      const [px, middle] = this.project(x, y);
      const py = middle - this.radius() - 12; // beside the cluster's heart, not upon it
      const half = name.length * 3.8 + 8;
      const box: [number, number, number, number] = [px - half, py - 10, px + half, py + 10];
      if (box[0] < 0 || box[2] > this.width || box[1] < 0 || box[3] > this.height) continue;
      if (taken.some(([a, b, c, d]) => box[0] < c && box[2] > a && box[1] < d && box[3] > b)) continue;
      // One family may have clusters all over: its name again right beside itself says nothing.
      const said = names.get(name) ?? [];
      if (said.some(([a, b]) => Math.hypot(a - px, b - py) < 150)) continue;
      names.set(name, [...said, [px, py]]);
      taken.push(box);
      make("text", { class: "cluster", x: px, y: py, "text-anchor": "middle", dy: "0.32em" }, name);
    }
    const polygon = this.drawing ?? this.polygon?.map(([x, y]) => this.project(x, y));
    if (polygon) make("polygon", { class: "lasso", points: polygon.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ") });
    // What was located lies above its neighbours.
    const marks = [...this.marks].sort((a, b) => Number(a.kind === "located") - Number(b.kind === "located"));
    for (const { x, y, kind, label } of marks) {
      const [px, py] = this.project(x, y);
      if (kind === "neighbour" && located) {
        const [lx, ly] = this.project(located.x, located.y);
        make("line", { class: "link", x1: lx, y1: ly, x2: px, y2: py });
      }
      if (kind === "located")
        make("path", { class: "mark located", d: outline(5, 9), transform: `translate(${px} ${py})` });
      else make("circle", { class: `mark ${kind}`, cx: px, cy: py, r: this.radius() + 4 });
      if (label) make("text", { class: `mark-name ${kind}`, x: px + 13, y: py, dy: "0.32em" }, label);
    }
    this.overlay.replaceChildren(...parts);
  }
}

export { RING };

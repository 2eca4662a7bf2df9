/**
 * Draws 100,000 points into a canvas, each a small picture of its shape that is mixed into the
 * pixels.
 *
 * Not by WebGL: that brings a library, and a second way of drawing for where there is none. What
 * this costs is measured by benchmarks/explorer_browser.py.
 */
import { SHAPE_COUNT, outline } from "../palette";

export interface Transform {
  x: number;
  y: number;
  k: number;
}

/** A shape's picture: where its pixels lie about the centre, and how much each is covered. */
interface Stamp {
  x: Int16Array;
  y: Int16Array;
  cover: Uint16Array;
}

/** The hollow circle of a miss comes after the shapes. */
export const RING = SHAPE_COUNT;

export interface Points {
  count: number;
  /** In [-1, 1], up is greater. */
  x: Float32Array;
  y: Float32Array;
  /** 0xBBGGRR. */
  colour: Uint32Array;
  shape: Uint8Array;
  /** 0: not drawn, 1: faint, 2: as it is. */
  show: Uint8Array;
}

const EDGE = 40; // pixels around the picture, so that what is half outside needs no test

/** A CSS colour as the pixels have it. */
export function packed(colour: string): number {
  const hex = colour.match(/^#(..)(..)(..)$/);
  const parts = hex
    ? hex.slice(1).map((part) => parseInt(part, 16))
    : (colour.match(/[\d.]+/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number);
  return (parts[2]! << 16) | (parts[1]! << 8) | parts[0]!;
}

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private image: ImageData | null = null;
  private pixels = new Uint32Array(0);
  private width = 0;
  private height = 0;
  private stamps = new Map<string, Stamp>();

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d", { alpha: false })!;
  }

  /** Makes room for a picture of so many CSS pixels at this many dots a pixel. */
  resize(width: number, height: number, ratio: number): void {
    const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (this.canvas.width === w && this.canvas.height === h && this.image) return;
    [this.canvas.width, this.canvas.height] = [w, h];
    [this.width, this.height] = [w + 2 * EDGE, h + 2 * EDGE];
    this.image = new ImageData(this.width, this.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  clear(colour: string): void {
    this.pixels.fill(0xff000000 | packed(colour));
  }

  show(): void {
    this.context.putImageData(this.image!, -EDGE, -EDGE);
  }

  private stamp(shape: number, radius: number): Stamp {
    const key = `${shape} ${radius.toFixed(1)}`;
    const known = this.stamps.get(key);
    if (known) return known;
    const half = Math.min(EDGE - 2, Math.ceil(radius * 1.9) + 2);
    const size = 2 * half + 1;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = size;
    const context = canvas.getContext("2d", { willReadFrequently: true })!;
    context.translate(half + 0.5, half + 0.5);
    if (shape === RING) {
      context.lineWidth = Math.max(1.2, radius * 0.4);
      context.stroke(new Path2D(outline(0, radius)));
    } else {
      context.fill(new Path2D(outline(shape, radius)));
    }
    const data = context.getImageData(0, 0, size, size).data;
    const found: [number, number, number][] = [];
    for (let i = 0; i < size * size; i++) {
      const cover = data[4 * i + 3]!;
      if (cover > 8) found.push([(i % size) - half, Math.floor(i / size) - half, cover]);
    }
    const made = {
      x: Int16Array.from(found, ([x]) => x),
      y: Int16Array.from(found, ([, y]) => y),
      cover: Uint16Array.from(found, ([, , cover]) => cover),
    };
    if (this.stamps.size > 200) this.stamps.clear();
    this.stamps.set(key, made);
    return made;
  }

  /**
   * Mixes points in: of those shown this way, every `stride`th, `radius` dots large, covering what
   * is below by `opacity`.
   */
  draw(
    points: Points,
    transform: Transform,
    show: number,
    { radius, opacity, stride = 1 }: { radius: number; opacity: number; stride?: number },
  ): void {
    const { pixels, width } = this;
    const right = width - EDGE / 2;
    const bottom = this.height - EDGE / 2;
    const low = EDGE / 2;
    const stamps = Array.from({ length: SHAPE_COUNT + 1 }, (_, shape) => {
      const { x, y, cover } = this.stamp(shape, radius);
      return {
        offset: Int32Array.from(x, (dx, index) => y[index]! * width + dx),
        cover: Uint16Array.from(cover, (value) => Math.round(value * opacity)),
      };
    });
    for (let i = 0; i < points.count; i += stride) {
      if (points.show[i] !== show) continue;
      const px = Math.round(points.x[i]! * transform.k + transform.x) + EDGE;
      const py = Math.round(-points.y[i]! * transform.k + transform.y) + EDGE;
      if (px < low || py < low || px >= right || py >= bottom) continue;
      const { offset, cover } = stamps[points.shape[i]!]!;
      const at = py * width + px;
      const colour = points.colour[i]!;
      const redBlue = colour & 0xff00ff;
      const green = colour & 0x00ff00;
      for (let j = 0; j < offset.length; j++) {
        const over = cover[j]!;
        const under = 256 - over;
        const pixel = at + offset[j]!;
        const old = pixels[pixel]!;
        // Two of the three parts at once: each has eight bits of room above it.
        const mixed =
          (((Math.imul(old & 0xff00ff, under) + Math.imul(redBlue, over)) >>> 8) & 0xff00ff) |
          (((Math.imul(old & 0x00ff00, under) + Math.imul(green, over)) >>> 8) & 0x00ff00);
        pixels[pixel] = 0xff000000 | mixed;
      }
    }
  }
}

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** An element's width in CSS pixels, as it changes. */
export function useWidth<E extends Element>(first: number): [RefObject<E | null>, number] {
  const ref = useRef<E>(null);
  const [width, set] = useState(first);
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(([entry]) => {
      const now = Math.round(entry!.contentRect.width);
      if (now > 0) set(now);
    });
    watcher.observe(ref.current!);
    return () => watcher.disconnect();
  }, []);
  return [ref, width];
}

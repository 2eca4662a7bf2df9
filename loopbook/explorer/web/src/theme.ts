/** Light or dark: as the system says, until the switch says otherwise. */
import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";

const KEY = "loopbook-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function kept(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null; // storage may be forbidden, as for files in some browsers
  }
}

let chosen = kept();
const watchers = new Set<() => void>();

function current(): Theme {
  return chosen ?? (system.matches ? "dark" : "light");
}

function show(): void {
  document.documentElement.dataset.theme = current();
  for (const watcher of watchers) watcher();
}

system.addEventListener("change", show);
show();

export function switchTheme(): void {
  chosen = current() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // It holds for this page then.
  }
  show();
}

export function useTheme(): Theme {
  const [theme, set] = useState(current);
  useEffect(() => {
    const watcher = () => set(current());
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, []);
  return theme;
}

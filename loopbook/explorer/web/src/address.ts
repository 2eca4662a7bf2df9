/**
 * The address of a page holds its whole state, so that it can be shared: the page in the path, what
 * is chosen on it in the query. A static report has the same behind `#`.
 */
import { useEffect, useState } from "preact/hooks";
import { report } from "./source";

export interface Address {
  page: string;
  /** What follows the page in the path: a record's id. */
  rest: string;
  query: URLSearchParams;
}

const base = new URL(".", document.baseURI).pathname;

function read(): Address {
  let path: string;
  let search: string;
  if (report) {
    [path = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  } else {
    path = location.pathname.startsWith(base) ? location.pathname.slice(base.length) : "";
    search = location.search;
  }
  const [page = "", ...rest] = path.split("/");
  return {
    page: page === "" ? "map" : page,
    rest: decodeURIComponent(rest.join("/")),
    query: new URLSearchParams(search),
  };
}

/** What a link to this page says. */
export function href(page: string, query?: URLSearchParams | Record<string, string>): string {
  const search = new URLSearchParams(query).toString();
  const path = search ? `${page}?${search}` : page;
  return report ? `#/${path}` : `${base}${path}`;
}

const watchers = new Set<() => void>();

function changed(): void {
  for (const watcher of watchers) watcher();
}

addEventListener("popstate", changed);
addEventListener("hashchange", changed);

/** Goes to another page, as a link does. */
export function go(target: string): void {
  history.pushState(null, "", target);
  changed();
  scrollTo(0, 0);
}

/**
 * Writes choices into the address: a list repeats its name, null or nothing takes it out. What moves
 * steadily (a slider, a map) replaces the address, what is chosen makes a step to go back to.
 */
export function choose(
  choices: Record<string, string | string[] | null>,
  { replace = false } = {},
): void {
  const { page, rest, query } = read();
  for (const [name, value] of Object.entries(choices)) {
    query.delete(name);
    for (const one of value === null ? [] : [value].flat()) if (one !== "") query.append(name, one);
  }
  const path = rest ? `${page}/${encodeURIComponent(rest)}` : page;
  const fragment = report ? "" : location.hash;
  const target = href(path, query) + fragment;
  if (replace) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  changed();
}

export function useAddress(): Address {
  const [address, set] = useState(read);
  useEffect(() => {
    const watcher = () => set(read());
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  }, []);
  return address;
}

/** Lets links within the explorer change the page without loading it anew. */
export function followLinks(): void {
  if (report) return; // what follows # is the browser's business
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.("a");
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (!link.pathname.startsWith(base) || /\.\w+$/.test(link.pathname)) return;
    event.preventDefault();
    go(link.href);
  });
}

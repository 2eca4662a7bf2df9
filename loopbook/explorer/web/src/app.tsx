/** What all pages share: where one can go, light or dark, the page's twin, what this book is. */
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { href, useAddress, type Address } from "./address";
import type { About } from "./documents";
import { EvaluationPage } from "./evaluation/page";
import { LivePage } from "./live/page";
import { LocatePage } from "./locate/page";
import { MapPage } from "./map/page";
import { CopyButton } from "./parts/copy";
import { Empty, useDocument, useTokenFor, type Loaded } from "./parts/document";
import { RecordPage } from "./record/page";
import { report } from "./source";
import { counted } from "./text";
import { switchTheme, useTheme } from "./theme";

const PAGES: { page: string; title: string }[] = [
  { page: "map", title: "Map" },
  { page: "locate", title: "Locate" },
  { page: "live", title: "Live" },
  { page: "evaluation", title: "Evaluation" },
];

export function App(): VNode {
  const address = useAddress();
  const about = useDocument<About>("about", { keep: true });
  const failed = about.state === "failed" ? about : null;
  useTokenFor(failed?.problem ?? null, failed?.again);
  const main = useRef<HTMLElement>(null);
  const there = about.state === "there" ? about.document.pages : null;
  const title = PAGES.find(({ page }) => page === address.page)?.title ?? (address.page === "record" ? "Record" : "");
  const place = `${address.page}/${address.rest}`;
  const first = useRef(true);
  useEffect(() => {
    document.title = title ? `${title} · loopbook` : "loopbook";
    // Whoever reads by ear or keyboard begins at the new page, not at the link that led there.
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [place]);
  return (
    <>
      <a
        class="skip"
        href={href(address.page)}
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the page
      </a>
      <header class="top">
        <a class="brand" href={href("map")}>
          loopbook
        </a>
        <nav aria-label="Pages">
          {PAGES.filter(({ page }) => (there ? there.includes(page) : !report)).map(({ page, title }) => (
            <a key={page} href={href(page)} aria-current={page === address.page ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <BookName about={about} />
        <Twin address={address} about={about} />
        <ThemeSwitch />
      </header>
      <main ref={main} tabIndex={-1} class={address.page} id="page">
        <Page address={address} />
      </main>
    </>
  );
}

function Page({ address }: { address: Address }): VNode {
  const { page, rest } = address;
  if (page === "map") return <MapPage />;
  if (page === "record") return <RecordPage id={rest} />;
  if (page === "evaluation") return <EvaluationPage />;
  if (!report && page === "locate") return <LocatePage />;
  if (!report && page === "live") return <LivePage />;
  return (
    <Empty>
      There is no such page{report ? " in a report" : ""}: go to the <a href={href("map")}>map</a>.
    </Empty>
  );
}

function BookName({ about }: { about: Loaded<About> }): VNode | null {
  if (about.state !== "there") return <span class="book" />;
  const { book, records, version, read_only: fixed } = about.document;
  return (
    <span class="book" title={`loopbook ${version}, ${book}`}>
      {book.split("/").pop()} · {counted(records, "record")}
      {fixed ? " · read-only" : ""}
    </span>
  );
}

/** The address of what this page is drawn from, and commands that give the same. */
function Twin({ address, about }: { address: Address; about: Loaded<About> }): VNode {
  const { page, rest } = address;
  const name = rest ? `${page}/${encodeURIComponent(rest)}` : page;
  const command =
    about.state === "there" && about.document.commands?.[page]?.[0]
      ? about.document.commands[page]![0]!
      : report
        ? "loopbook ui"
        : `curl ${new URL(`${name}.json`, document.baseURI).href}`;
  return (
    <span class="twin">
      {!report && page !== "locate" && (
        <a href={`${href(name)}.json`} type="application/json">
          .json
        </a>
      )}
      {/* These pages show commands of their own. */}
      {page !== "locate" && page !== "record" && (
      <span class="command" title={command}>
        <CopyButton text={command} label={`Copy command: ${command}`} name="Copy command" />
      </span>
      )}
    </span>
  );
}

function ThemeSwitch(): VNode {
  const theme = useTheme();
  return (
    <button type="button" class="theme" aria-pressed={theme === "dark"} onClick={switchTheme}>
      Dark
    </button>
  );
}

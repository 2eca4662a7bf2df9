/** Reading a document, and what stands in its place until it is there. */
import type { ComponentChildren, VNode } from "preact";
import { useCallback, useEffect, useLayoutEffect, useState } from "preact/hooks";
import { keepToken, load, onToken, Problem } from "../source";

export type Loaded<T> =
  | { state: "waiting" }
  | { state: "failed"; problem: Problem; again: () => void }
  | { state: "there"; document: T };

// A map of 100,000 records is read once, whatever page comes between.
const read = new Map<string, unknown>();

/** The document with this name; null asks for none. */
export function useDocument<T>(name: string | null, { keep = false } = {}): Loaded<T> {
  const first = (): Loaded<T> =>
    name !== null && read.has(name) ? { state: "there", document: read.get(name) as T } : { state: "waiting" };
  const [loaded, set] = useState<Loaded<T>>(first);
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((value) => value + 1), []);
  useEffect(() => {
    let wanted = true;
    set(first());
    if (name === null || read.has(name)) return;
    load<T>(name).then(
      (document) => {
        if (keep) read.set(name, document);
        if (wanted) set({ state: "there", document });
      },
      (cause: unknown) => {
        const problem = cause instanceof Problem ? cause : new Problem(String(cause));
        if (wanted) set({ state: "failed", problem, again });
      },
    );
    return () => void (wanted = false);
  }, [name, turn]);
  return loaded;
}

/** Asks again for what was refused for want of a token, once there is one: from when it is shown that
 * it was refused, so that no token is given in between. */
export function useTokenFor(problem: Problem | null, again?: () => void): void {
  useLayoutEffect(() => (problem?.status === 401 && again ? onToken(again) : undefined), [problem, again]);
}

/** The page of a document, once it is there. */
export function When<T>(props: {
  loaded: Loaded<T>;
  what: string;
  children: (document: T) => VNode;
}): VNode {
  const { loaded } = props;
  if (loaded.state === "waiting") return <Waiting what={props.what} />;
  if (loaded.state === "failed") return <Failed problem={loaded.problem} again={loaded.again} />;
  return props.children(loaded.document);
}

export function Waiting({ what }: { what: string }): VNode {
  return (
    <p class="notice" role="status">
      Reading {what}…
    </p>
  );
}

/** Nothing to show, and what to do about it. */
export function Empty({ children }: { children: ComponentChildren }): VNode {
  return (
    <p class="notice" data-empty>
      {children}
    </p>
  );
}

export function Failed({ problem, again }: { problem: Problem; again?: () => void }): VNode {
  useTokenFor(problem, again);
  return (
    <div class="notice failed" role="alert">
      <p>{problem.message}</p>
      {problem.status === 401 ? (
        <TokenForm />
      ) : (
        again && (
          <button type="button" onClick={again}>
            Try again
          </button>
        )
      )}
    </div>
  );
}

function TokenForm(): VNode {
  const [token, set] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        keepToken(token.trim());
      }}
    >
      <label>
        Token{" "}
        <input
          type="password"
          autocomplete="off"
          value={token}
          onInput={(event) => set(event.currentTarget.value)}
        />
      </label>{" "}
      <button type="submit">Use it</button>
    </form>
  );
}

/** Where code lands that somebody pastes: its nests among the book's, and what is done with each. */
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { choose, useAddress } from "../address";
import type { LocateDocument } from "../documents";
import { Commands } from "../parts/copy";
import { Empty, Failed } from "../parts/document";
import { post, Problem } from "../source";
import { counted } from "../text";
import { QuestionForm } from "./form";
import { NestMap } from "./map";
import { Nest } from "./nest";
import { question, TARGETS } from "./question";
import "./page.css";

type Answer =
  | { state: "none" }
  | { state: "waiting" }
  | { state: "failed"; problem: Problem }
  | { state: "there"; document: LocateDocument };

export function Page(): VNode {
  const { query } = useAddress();
  const asked = query.get("target") ?? "";
  const target = TARGETS.includes(asked) ? asked : TARGETS[0]!;
  const [text, setText] = useState("");
  const [answer, setAnswer] = useState<Answer>({ state: "none" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const ask = async () => {
    running.current?.abort();
    const own = (running.current = new AbortController());
    setAnswer({ state: "waiting" });
    try {
      const document = await post<LocateDocument>("locate", question(text, target), own.signal);
      if (!own.signal.aborted) setAnswer({ state: "there", document });
    } catch (cause) {
      if (own.signal.aborted) return; // a later question is being answered
      const problem = cause instanceof Problem ? cause : new Problem(String(cause));
      setAnswer({ state: "failed", problem });
    }
  };

  return (
    <div class="locate-page">
      <h1>Where does my code land?</h1>
      <QuestionForm
        text={text}
        target={target}
        busy={answer.state === "waiting"}
        onText={setText}
        onTarget={(value) => choose({ target: value === TARGETS[0] ? null : value }, { replace: true })}
        onAsk={() => void ask()}
      />
      {answer.state === "failed" && <Failed problem={answer.problem} again={() => void ask()} />}
      {answer.state === "there" && <Found document={answer.document} />}
    </div>
  );
}

function Found({ document }: { document: LocateDocument }): VNode {
  const { nests, problems } = document;
  const [chosen, setChosen] = useState(0);
  useEffect(() => setChosen(0), [document]);
  const shown = nests[Math.min(chosen, nests.length - 1)];
  return (
    <div class="locate-found">
      <p role="status">{counted(nests.length, "loop nest")} found.</p>
      {problems.length > 0 && (
        <div class="notice" role="status">
          <ul>
            {problems.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </div>
      )}
      {!nests.length && !problems.length && <Empty>There is no loop in it: paste a function that has one.</Empty>}
      {shown && <NestMap nest={shown} />}
      {nests.map((nest, index) => (
        <Nest
          key={index}
          nest={nest}
          number={index + 1}
          chosen={nest === shown}
          onChoose={nests.length > 1 ? () => setChosen(index) : undefined}
        />
      ))}
      <Commands commands={[document.command]} />
    </div>
  );
}

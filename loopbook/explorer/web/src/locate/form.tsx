/** Where code is pasted or dropped, and for which target it is looked up. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { TARGETS } from "./question";

export function QuestionForm(props: {
  text: string;
  target: string;
  busy: boolean;
  onText: (text: string) => void;
  onTarget: (target: string) => void;
  onAsk: () => void;
}): VNode {
  const [over, setOver] = useState(false);
  const [file, setFile] = useState<string | null>(null);
  const read = async (chosen: File | undefined) => {
    if (!chosen) return;
    try {
      props.onText(await chosen.text());
      setFile(`${chosen.name} has been read.`);
    } catch {
      setFile(`${chosen.name} cannot be read: is it a file, and may you read it?`);
    }
  };
  return (
    <form
      class={`locate-form${over ? " over" : ""}`}
      onSubmit={(event) => {
        event.preventDefault();
        props.onAsk();
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes("Files")) return; // dropped text goes into the textarea by itself
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!event.dataTransfer?.files.length) return;
        event.preventDefault();
        void read(event.dataTransfer.files[0]);
      }}
    >
      <label class="locate-code">
        Python, or an SDFG as JSON
        <textarea
          rows={14}
          spellcheck={false}
          autocomplete="off"
          aria-describedby="locate-help"
          value={props.text}
          placeholder={"def product(A, B, C):\n    for i in range(64):\n        …"}
          onInput={(event) => {
            setFile(null);
            props.onText(event.currentTarget.value);
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            props.onAsk();
          }}
        />
      </label>
      <p id="locate-help" class="note">
        Paste a function, drop a file here, or choose one. Python is parsed, never run. Ctrl-Enter looks it up.
      </p>
      <div class="locate-tools">
        <label>
          File{" "}
          <input
            type="file"
            accept=".py,.json"
            onChange={(event) => {
              void read(event.currentTarget.files?.[0]);
              event.currentTarget.value = ""; // the same file, changed, can be chosen again
            }}
          />
        </label>
        <label>
          Target{" "}
          <select value={props.target} onChange={(event) => props.onTarget(event.currentTarget.value)}>
            {TARGETS.map((target) => (
              <option key={target} value={target}>
                {target}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="primary" disabled={props.busy}>
          Locate
        </button>
      </div>
      <p class="note" role="status">
        {props.busy ? "Looking it up…" : file}
      </p>
    </form>
  );
}

/** Commands that do the same in a terminal, each with a button that copies it. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { counted } from "../text";

async function copy(text: string): Promise<void> {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  // Plain HTTP to another machine has no clipboard of its own.
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser does not let pages copy");
}

export function CopyButton({ text, label, name = "Copy" }: { text: string; label: string; name?: string }): VNode {
  const [said, say] = useState<string | null>(null);
  useEffect(() => {
    if (!said) return;
    const later = setTimeout(() => say(null), 2000);
    return () => clearTimeout(later);
  }, [said]);
  return (
    <button
      type="button"
      class="copy"
      aria-label={label}
      onClick={() =>
        copy(text).then(
          () => say("Copied"),
          () => say("Select and copy it by hand"),
        )
      }
    >
      <span aria-live="polite">{said ?? name}</span>
    </button>
  );
}

const FEW = 3;

export function Commands({ commands }: { commands: string[] | undefined }): VNode | null {
  if (!commands?.length) return null;
  const rest = commands.slice(FEW);
  return (
    <>
      <CommandList commands={commands.slice(0, FEW)} />
      {rest.length > 0 && (
        <details class="numbers">
          <summary>{counted(rest.length, "more command")}</summary>
          <CommandList commands={rest} />
        </details>
      )}
    </>
  );
}

function CommandList({ commands }: { commands: string[] }): VNode {
  return (
    <ul class="commands" aria-label="The same in a terminal">
      {commands.map((command) => (
        <li key={command}>
          <code>{command}</code>
          <CopyButton text={command} label={`Copy command: ${command}`} />
        </li>
      ))}
    </ul>
  );
}
